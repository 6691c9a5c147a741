1795398646.323386418
0      2040918 127.0.0.1:33918 127.0.0.1:53359
	 bbr wscale:10,10 rto:204 rtt:1.207/0.161 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:14 ssthresh:8 bytes_sent:6484979 bytes_retrans:5897 bytes_acked:6479083 segs_out:121 segs_in:61 data_segs_out:119 bbr:(bw:1903209592bps,mrtt:0.012,pacing_gain:1.25,cwnd_gain:2) send 6076301574bps lastsnd:4 lastrcv:144 lastack:4 pacing_rate 2355221872bps delivery_rate 943899096bps delivered:120 busy:144ms rwnd_limited:136ms(94.4%) retrans:0/1 dsack_dups:1 rcv_space:65495 rcv_ssthresh:65495 notsent:2040918 minrtt:0.012 snd_wnd:29696
1795398646.418328576
0      2727902 127.0.0.1:33918 127.0.0.1:53359
	 bbr wscale:10,10 rto:204 rtt:1.267/0.292 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:14 ssthresh:8 bytes_sent:9517995 bytes_retrans:5897 bytes_acked:9512099 segs_out:175 segs_in:88 data_segs_out:173 bbr:(bw:1899774872bps,mrtt:0.012,pacing_gain:1.25,cwnd_gain:2) send 5788552486bps lastsnd:4 lastrcv:224 lastack:4 pacing_rate 2350971408bps delivery_rate 934636928bps delivered:174 busy:224ms rwnd_limited:216ms(96.4%) retrans:0/1 dsack_dups:1 rcv_space:65495 rcv_ssthresh:65495 notsent:2727902 minrtt:0.012 snd_wnd:29696
1795398646.517238255
0      2415312 127.0.0.1:33918 127.0.0.1:53359
	 bbr wscale:10,10 rto:204 rtt:1.346/0.488 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:14 ssthresh:8 bytes_sent:14570585 bytes_retrans:5897 bytes_acked:14564689 segs_out:265 segs_in:133 data_segs_out:263 bbr:(bw:1988078408bps,mrtt:0.012,pacing_gain:1.25,cwnd_gain:2) send 5448808321bps lastsnd:4 lastrcv:324 lastack:4 pacing_rate 2460247024bps delivery_rate 347851256bps delivered:264 busy:324ms rwnd_limited:300ms(92.6%) retrans:0/1 dsack_dups:1 rcv_space:65495 rcv_ssthresh:65495 notsent:2415312 minrtt:0.012 snd_wnd:29696
1795398646.622534835
0      2500536 127.0.0.1:33918 127.0.0.1:53359
	 bbr wscale:10,10 rto:204 rtt:1.125/0.041 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:14 ssthresh:8 bytes_sent:19285361 bytes_retrans:5897 bytes_acked:19279465 segs_out:349 segs_in:175 data_segs_out:347 bbr:(bw:1915387240bps,mrtt:0.012,pacing_gain:1.25,cwnd_gain:2) send 6519196444bps lastsnd:4 lastrcv:428 lastack:4 pacing_rate 2370291712bps delivery_rate 945602888bps delivered:348 busy:428ms rwnd_limited:400ms(93.5%) retrans:0/1 dsack_dups:1 rcv_space:65495 rcv_ssthresh:65495 notsent:2500536 minrtt:0.012 snd_wnd:29696
1795398646.723827290
0      2375256 127.0.0.1:33918 127.0.0.1:53359
	 bbr wscale:10,10 rto:204 rtt:1.18/0.166 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:14 ssthresh:8 bytes_sent:24330641 bytes_retrans:5897 bytes_acked:24324745 segs_out:439 segs_in:220 data_segs_out:437 bbr:(bw:1925941200bps,mrtt:0.012,pacing_gain:1.25,cwnd_gain:2) send 6215335593bps lastrcv:528 pacing_rate 2383352232bps delivery_rate 642383808bps delivered:438 busy:528ms rwnd_limited:488ms(92.4%) retrans:0/1 dsack_dups:1 rcv_space:65495 rcv_ssthresh:65495 notsent:2375256 minrtt:0.012 snd_wnd:36864
1795398646.819667318
0      2520480 127.0.0.1:33918 127.0.0.1:53359
	 bbr wscale:10,10 rto:204 rtt:1.115/0.046 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:14 ssthresh:8 bytes_sent:29252265 bytes_retrans:5897 bytes_acked:29039521 segs_out:527 segs_in:263 data_segs_out:525 bbr:(bw:1997570720bps,mrtt:0.012,pacing_gain:1.25,cwnd_gain:2) send 6577664574bps lastrcv:624 pacing_rate 2471993768bps delivery_rate 850428568bps delivered:522 busy:624ms rwnd_limited:576ms(92.3%) unacked:4 retrans:0/1 dsack_dups:1 rcv_space:65495 rcv_ssthresh:65495 notsent:2313632 minrtt:0.012 snd_wnd:206848
