1700000000
ESTAB 0 0 10.0.0.1:22 10.0.0.2:50022 cubic rtt:2/1 mss:1000 cwnd:10 bytes_sent:5000 bytes_acked:5000 minrtt:2
1700000001
ESTAB 0 0 10.0.0.1:22 10.0.0.2:50022 cubic rtt:2/1 mss:1000 cwnd:10 bytes_sent:9000 bytes_acked:9000 minrtt:2
1700000002
ESTAB 0 0 10.0.0.1:22 10.0.0.2:50022 cubic rtt:2/1 mss:1000 cwnd:10 bytes_sent:100 bytes_acked:100 minrtt:2
1700000003
ESTAB 0 0 10.0.0.1:22 10.0.0.2:50022 cubic rtt:2/1 mss:1000 cwnd:10 bytes_sent:2100 bytes_acked:2100 minrtt:2
