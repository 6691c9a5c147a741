# One case of the cross-check in ns-2, with one seed.
#
#     ns case.tcl KEY VALUE ...
#
# Prints one line "FIGURE VALUE" for each figure. Time runs from 0 to `until`; figures are of
# `from` to `until`.

array set o {
    seed 1  from 10  until 60  bottlenecks 1  rate 10Mb  delay 10ms  limit 60  queue droptail
    access 100Mb  side 5ms  back_limit 10000
    flows 10  back 0  tcp newreno  start 1  ecn 0  loss 0
    min_th 5  max_th 15  max_p_inverse 10  gentle 1
    gain 0.001  phi 1.001  weight 0.1  period 0.01
    window 100000  minrto 0.2  tick 0.001  alpha 1  beta 3  overhead 0  impatient 1
}
foreach {key value} $argv {
    if {![info exists o($key)]} { error "no such key: $key" }
    set o($key) $value
}

# Packets of 1000 bytes with headers: ns-2 adds 40, and 10 for timestamps. These give a sample of
# the round-trip time for each acknowledgement.
Agent/TCP set packetSize_ 950
Agent/TCP set timestamps_ true
Agent/TCP set window_ $o(window)
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ $o(minrto)
Agent/TCP set tcpTick_ $o(tick)
Agent/TCP set rtxcur_init_ 1.0
Agent/TCP set overhead_ $o(overhead)
Agent/TCP/Newreno set newreno_changes1_ $o(impatient)
Agent/TCP set ecn_ $o(ecn)
Agent/TCP/Vegas set v_alpha_ $o(alpha)
Agent/TCP/Vegas set v_beta_ $o(beta)
Agent/TCP/Vegas set v_gamma_ 1

Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set thresh_ $o(min_th)
Queue/RED set maxthresh_ $o(max_th)
Queue/RED set linterm_ $o(max_p_inverse)
Queue/RED set q_weight_ 0.002
Queue/RED set gentle_ [expr {$o(gentle) ? "true" : "false"}]
Queue/RED set wait_ false
Queue/RED set mean_pktsize_ 1000
Queue/RED set idle_pktsize_ 1000
Queue/RED set setbit_ [expr {$o(ecn) ? "true" : "false"}]
Queue/RED set use_mark_p_ false

Queue/REM set gamma_ $o(gain)
Queue/REM set phi_ $o(phi)
Queue/REM set inw_ 1.0
Queue/REM set mean_pktsize_ 1000
Queue/REM set pupdtime_ $o(period)
Queue/REM set pbo_ 0
Queue/REM set markpkts_ [expr {$o(ecn) ? "true" : "false"}]
Queue/REM set qib_ false

Queue/Vq set ecnlim_ 0.98
Queue/Vq set gamma_ 0.98
Queue/Vq set buflim_ 1.0
Queue/Vq set mean_pktsize_ 1000
Queue/Vq set queue_in_bytes_ true
Queue/Vq set markpkts_ [expr {$o(ecn) ? "true" : "false"}]
Queue/Vq set markfront_ false

array set queues {droptail DropTail red RED rem REM avq Vq}
array set agents {newreno Newreno reno Reno sack Sack1 fack Fack vegas Vegas cubic Linux}

set ns [new Simulator]
$defaultRNG seed $o(seed)
set starts [new RNG]
$starts next-substream

# A row of routers; acknowledgements and the way back have queues that do not overflow, unless
# `back_limit` says so.
set routers 0
for {set i 0} {$i <= $o(bottlenecks)} {incr i} { set r($i) [$ns node] }
for {set i 0} {$i < $o(bottlenecks)} {incr i} {
    set j [expr {$i + 1}]
    $ns simplex-link $r($i) $r($j) $o(rate) $o(delay) $queues($o(queue))
    $ns simplex-link $r($j) $r($i) $o(rate) $o(delay) DropTail
    $ns queue-limit $r($i) $r($j) $o(limit)
    $ns queue-limit $r($j) $r($i) $o(back_limit)
    set watch($i) [$ns monitor-queue $r($i) $r($j) ""]
    set watch_back($i) [$ns monitor-queue $r($j) $r($i) ""]
    if {$o(loss) > 0} {
        set errors [new ErrorModel]
        $errors unit pkt
        $errors set rate_ $o(loss)
        set dice [new RandomVariable/Uniform]
        $dice set min_ 0
        $dice set max_ 1
        $errors ranvar $dice
        $errors drop-target [new Agent/Null]
        $ns link-lossmodel $errors $r($i) $r($j)
    }
}

# A flow from one router to another with hosts of its own.
proc flow {group from to} {
    global ns o agents starts sinks
    set a [$ns node]
    set b [$ns node]
    foreach {x y} [list $a $from $to $b] {
        $ns duplex-link $x $y $o(access) $o(side) DropTail
        $ns queue-limit $x $y 1000000
        $ns queue-limit $y $x 1000000
    }
    set tcp [new Agent/TCP/$agents($o(tcp))]
    set sink [expr {$o(tcp) in {sack fack cubic} ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
    $ns attach-agent $a $tcp
    $ns attach-agent $b $sink
    $ns connect $tcp $sink
    if {$o(tcp) eq "cubic"} { $ns at 0 "$tcp select_ca cubic" }
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$starts uniform 0 $o(start)] "$ftp start"
    lappend sinks($group) $sink
}

set last $r($o(bottlenecks))
for {set i 0} {$i < $o(flows)} {incr i} { flow forward $r(0) $last }
for {set i 0} {$i < $o(back)} {incr i} { flow back $last $r(0) }
if {$o(bottlenecks) > 1} {
    for {set i 0} {$i < $o(bottlenecks)} {incr i} {
        for {set k 0} {$k < $o(flows)} {incr k} { flow cross $r($i) $r([expr {$i + 1}]) }
    }
}

# What has been counted so far.
proc counts {} {
    global ns sinks watch watch_back
    foreach group [array names sinks] {
        set i 0
        foreach sink $sinks($group) { set n($group,$i) [$sink set bytes_]; incr i }
    }
    foreach {name q} [list forward $watch(0) back $watch_back(0)] {
        set integral [$q get-pkts-integrator]
        set n(queue,$name) [$integral set sum_]
        # The integral goes up to the last change; the rest is what is there since.
        set n(queue,$name) [expr {[$integral set sum_] +
            ([$ns now] - [$integral set lastx_]) * [$integral set lasty_]}]
        set n(served,$name) [$q set bdepartures_]
        set n(drops,$name) [$q set pdrops_]
    }
    return [array get n]
}

proc report {} {
    global o sinks before ns
    array set x $before
    array set y [counts]
    set period [expr {double($o(until) - $o(from))}]
    foreach group [array names sinks] {
        set sum 0.0
        set squares 0.0
        set n [llength $sinks($group)]
        for {set i 0} {$i < $n} {incr i} {
            set rate [expr {($y($group,$i) - $x($group,$i)) * 8e-6 / $period}]
            set sum [expr {$sum + $rate}]
            set squares [expr {$squares + $rate * $rate}]
        }
        puts "goodput.$group [expr {$sum / $n}]"
        if {$n > 1} { puts "fairness.$group [expr {$sum * $sum / $n / $squares}]" }
    }
    set directions forward
    if {$o(back) > 0} { lappend directions back }
    # Behind a lossy link the monitor counts losses as departures from the queue.
    if {$o(loss) > 0} { set directions {} }
    foreach d $directions {
        set bps [expr {($y(served,$d) - $x(served,$d)) * 8.0 / $period}]
        set capacity [bw_parse $o(rate)]
        set used [expr {$bps / $capacity}]
        # The monitor sees packets that wait; the one in service is there as long as the link is busy.
        set waiting [expr {($y(queue,$d) - $x(queue,$d)) / $period}]
        puts "utilisation.$d $used"
        puts "queue.$d [expr {$waiting + $used}]"
        puts "drops.$d [expr {($y(drops,$d) - $x(drops,$d)) / $period}]"
    }
    exit 0
}

$ns at $o(from) {set before [counts]}
$ns at $o(until) report
$ns run
