1700000000.0
0 0 10.0.0.1:22 10.0.0.2:50022
	 cubic rtt:2/1 mss:1000 cwnd:10 bytes_sent:1000 bytes_acked:1000 minrtt:2
1700000001.0
0 0 10.0.0.1:22 10.0.0.2:50022
	 cubic rtt:2/1 mss:1000 cwnd:10 bytes_sent:9000 bytes_ack