# The works of `accord bench` in ns-2, for `accord bench --against ns2`.
#
#     ns ns2.tcl NAME
#
# Prints the packet-hops and the CPU seconds of the simulation, without its set-up. Only the
# headers that TCP uses are kept, as whoever wants speed of ns-2 does.

remove-all-packet-headers
add-packet-header IP TCP Flags

# Name: rate, delay, limit, seconds, controller, rate of access links; then the flows of each class
# with the delay of their access links.
array set works {
    newreno-10  {100Mb  18ms 500     60 Newreno 100Mb {10 1ms}}
    newreno-250 {1Gb    18ms 5000    10 Newreno 1Gb   {250 1ms}}
    vegas-250   {2.4Gb  5ms  1000000 20 Vegas   100Mb
                 {50 1.25ms 50 1.25ms 50 2.5ms 50 5ms 50 7.5ms}}
}
set work [lindex $argv 0]
if {![info exists works($work)]} { error "no such work: $work" }
lassign $works($work) rate delay limit seconds controller access classes

# 1000 bytes with the 40 of its headers, as in the works.
Agent/TCP set packetSize_ 960
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
Agent/TCP/Vegas set v_alpha_ 2
Agent/TCP/Vegas set v_beta_ 2

set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate $delay DropTail
$ns queue-limit $left $right $limit
$ns queue-limit $right $left 1000000
set senders {}
foreach {flows side} $classes {
    for {set i 0} {$i < $flows} {incr i} {
        set a [$ns node]
        set b [$ns node]
        foreach {x y} [list $a $left $right $b] {
            $ns duplex-link $x $y $access $side DropTail
            $ns queue-limit $x $y 1000000
            $ns queue-limit $y $x 1000000
        }
        set sender [new Agent/TCP/$controller]
        set sink [new Agent/TCPSink]
        $ns attach-agent $a $sender
        $ns attach-agent $b $sink
        $ns connect $sender $sink
        set application [new Application/FTP]
        $application attach-agent $sender
        $ns at 0 "$application start"
        lappend senders $sender
    }
}

# The CPU seconds of this process so far, in steps of 10 ms.
proc cpu {} {
    set file [open /proc/self/stat]
    set fields [lrange [split [lindex [split [read $file] ")"] end]] 1 end]
    close $file
    return [expr {([lindex $fields 11] + [lindex $fields 12]) / 100.0}]
}

# A data packet crosses one link before the queue that may drop it. One that is acknowledged crosses
# two more, and its acknowledgement three.
proc report {} {
    global senders before
    set hops 0
    foreach sender $senders {
        set hops [expr {$hops + [$sender set ndatapack_] + 5 * [$sender set nackpack_]}]
    }
    puts "$hops [expr {[cpu] - $before}]"
    exit 0
}

$ns at 0 {set before [cpu]}
$ns at $seconds report
$ns run
