1700000000.0
State    Recv-Q    Send-Q    Local Address:Port    Peer Address:Port    Process
ESTAB    0         0         [2001:db8:aaaa:bbbb:cccc:dddd:eeee:4%enp0s31f6]:40111    [2001:db8:1111:2222:3333:4444:5555:9]:443    timer:(on,210ms,0)
	 cubic wscale:8,8 rto:240 rtt:40/2 mss:1000 pmtu:1500 rcvmss:536 advmss:1448 cwnd:10 segs_out:2 send 2Mbps lastsnd:4 pacing_rate 4Mbps delivered:1 app_limited rcv_space:14480
ESTAB    0         0         10.0.0.1:22    10.0.0.2:50022    users:(("sshd",pid=7,fd=4)) timer:(keepalive,90min,0)
	 ts sack ecn bbr wscale:7,7 rto:204 rtt:1.5/0.4 mss:1448 cwnd:20 bytes_sent:100 bytes_acked:90 bbr:(bw:9Mbps,mrtt:1.4,pacing_gain:2.88672,cwnd_gain:2.88672) retrans:0/3 minrtt:1.4
1700000001.0
ESTAB    0         0         [2001:db8:aaaa:bbbb:cccc:dddd:eeee:4%enp0s31f6]:40111    [2001:db8:1111:2222:3333:4444:5555:9]:443
	 cubic wscale:8,8 rto:240 rtt:41/2 mss:1000 pmtu:1500 cwnd:20 ssthresh:15 bytes_sent:130000 bytes_acked:125000 retrans:0/2 minrtt:40
ESTAB    0         0         10.0.0.1:22    10.0.0.2:50022
	 ts sack ecn bbr wscale:7,7 rto:204 rtt:1.5/x mss:1448 cwnd:twenty bytes_sent:100 bytes_acked:90
what is this
1700000002.0
ESTAB    0         0         [2001:db8:aaaa:bbbb:cccc:dddd:eeee:4%enp0s31f6]:40111    [2001:db8:1111:2222:3333:4444:5555:9]:443
	 cubic wscale:8,8 rto:240 rtt:42/2 mss:1000 pmtu:1500 cwnd:12 ssthresh:11 bytes_sent:260000 bytes_acked:250000 retrans:0/4 minrtt:39
ESTAB    0         0         10.0.0.1:22    10.0.0.2:50022
	 ts sack ecn bbr wscale:7,7 rto:204 rtt:2.5/0.4 mss:1448 cwnd:20 bytes_sent:1100 bytes_acked:1090 retrans:0/3 minrtt:1.4
