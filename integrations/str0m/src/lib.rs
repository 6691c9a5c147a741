//! WebRTC video of str0m that carries flows of Accord, by [`accord_net::Net::carry`].
//!
//! [str0m](https://github.com/algesten/str0m) is a WebRTC stack without I/O, with Google's congestion
//! control: it estimates the bandwidth from the arrival times that the receiver reports (TWCC) and from
//! losses, probes with padding, and paces packets. The sending end is a camera that follows the estimate; the
//! other end receives. Both are whole: ICE, DTLS, SRTP, reports, and retransmissions that the receiver asks
//! for. str0m's random numbers are of the flow's seed. The keys of DTLS are not: its signatures have
//! several lengths, so handshakes differ by some bytes, and runs by the time that these take.

use accord_net::{Bytes, Carried, Datagram, Duration, Ends, Rate, Setup, Time, View};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Instant;
use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::media::{MediaKind, Mid, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::{RtpWrite, Ssrc};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig, RtcError};

/// The addresses of the sending and the receiving end for str0m, which only compares them.
const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 1000)),
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 2000)),
];
/// The headers of IP and UDP around a datagram.
const OUTER: u64 = 28;
/// The most bytes of a datagram besides its video: the header of RTP with extensions, the number of a packet
/// that is sent again, and the tag of SRTP.
const OVERHEAD: u64 = 80;
/// The least packet: what str0m sends on its own may have this size.
const LEAST: u64 = 1200;
/// The frames per second.
const FRAMES: u64 = 30;
/// The part of the estimate that the camera uses. The rest is for headers, reports and repairs.
const USED: f64 = 0.9;
/// The clock of video in RTP, in Hz [RFC 3551 §5].
const CLOCK: u64 = 90_000;
/// The streams of video and of retransmissions.
const VIDEO: u32 = 1;
const AGAIN: u32 = 2;

/// A camera whose bit rate follows str0m's estimate.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    /// The estimate at the start.
    pub start: Rate,
    /// The rate above which more bits make the picture no better.
    pub most: Rate,
}

impl Default for Camera {
    /// 300 kbps at the start, and 5 Mbps at most.
    fn default() -> Camera {
        Camera { start: Rate::from_bps(300_000), most: Rate::from_bps(5_000_000) }
    }
}

/// Returns the function that creates connections with this camera, for [`accord_net::Net::carry`]. It fails for
/// packets below 1200 B. The demand of the flow has to be without end.
pub fn with(camera: Camera) -> impl Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static {
    move |setup| {
        if setup.packet < Bytes::new(LEAST) {
            return Err(format!("packets of {} are below {LEAST} B of WebRTC", setup.packet));
        }
        ends(setup, camera).map_err(|e| format!("cannot make a connection of str0m: {e}"))
    }
}

/// Creates both ends, which know each other's keys and addresses, as after signalling.
fn ends(setup: &Setup<'_>, camera: Camera) -> Result<Ends, RtcError> {
    #[expect(clippy::disallowed_methods, reason = "only differences to it are used")]
    let zero = Instant::now();
    let seed = setup.seed.unwrap_or_else(|| fastrand::u64(..));
    fastrand::seed(seed);
    let provider = Arc::new(str0m::crypto::from_feature_flags());
    let mtu = LEAST as usize - OUTER as usize;
    let config = || {
        let config = RtcConfig::new().set_rtp_mode(true).set_crypto_provider(provider.clone());
        config.set_mtu(mtu..=usize::MAX).set_stats_interval(Some(Duration::from_ms(100).into()))
    };
    let start = Bitrate::bps(camera.start.as_bps());
    let mut sending = config().enable_bwe(Some(start)).build(zero);
    // The receiver answers to the sender's checks, and begins none.
    let mut receiving = config().set_ice_lite(true).build(zero);
    sending.bwe().set_desired_bitrate(Bitrate::bps(camera.most.as_bps()));
    introduce(&mut sending, &mut receiving, true)?;
    introduce(&mut receiving, &mut sending, false)?;
    let mid = Mid::from("vid");
    let (video, again) = (Ssrc::from(VIDEO), Some(Ssrc::from(AGAIN)));
    sending.direct_api().declare_media(mid, MediaKind::Video);
    sending.direct_api().declare_stream_tx(video, again, mid, None);
    receiving.direct_api().declare_media(mid, MediaKind::Video);
    receiving.direct_api().expect_stream_rx(video, again, mid, None);
    receiving.direct_api().enable_twcc_feedback();
    let vp8 = sending.codec_config().iter().find(|params| params.spec().codec == Codec::Vp8);
    let (pt, rtx) = vp8.map_or((None, None), |params| (Some(params.pt()), params.resend()));
    let end = |rtc, sends| End {
        zero,
        rtc,
        sends,
        random: fastrand::u64(..),
        is_open: !sends,
        wake: Time::MAX,
        frame: Time::MAX,
        frames: 0,
        packets: 0,
        queue: VecDeque::new(),
        outbox: VecDeque::new(),
        pt,
        rtx,
        most: camera.most,
        room: setup.packet.get() - OUTER - OVERHEAD,
        arrived: 0,
        view: View { pacing: sends.then_some(camera.start), ..View::default() },
        broken: None,
    };
    Ok([Box::new(end(sending, true)), Box::new(end(receiving, false))])
}

/// Tells an end all that it has to know about the other.
fn introduce(rtc: &mut Rtc, other: &mut Rtc, sends: bool) -> Result<(), RtcError> {
    let [here, there] = if sends { ADDRESSES } else { [ADDRESSES[1], ADDRESSES[0]] };
    let candidate = |at| Candidate::host(at, Protocol::Udp).map_err(RtcError::from);
    rtc.add_local_candidate(candidate(here)?);
    rtc.add_remote_candidate(candidate(there)?);
    let keys = other.direct_api().local_dtls_fingerprint().clone();
    rtc.direct_api().set_remote_fingerprint(keys);
    let credentials = other.direct_api().local_ice_credentials();
    rtc.direct_api().set_remote_ice_credentials(credentials);
    rtc.direct_api().set_ice_controlling(sends);
    rtc.direct_api().start_dtls(sends)
}

/// An end of a connection.
struct End {
    /// The instant that is the begin of the run. str0m only uses differences to it.
    zero: Instant,
    rtc: Rtc,
    /// True for the end with the camera.
    sends: bool,
    /// The state of the random numbers that str0m draws from its thread.
    random: u64,
    /// False before the flow starts, and after it stops.
    is_open: bool,
    /// The time of str0m's first timer.
    wake: Time,
    /// The time of the next frame, and the number of frames so far.
    frame: Time,
    frames: u64,
    /// The packets of video so far.
    packets: u64,
    /// The sizes of packets that str0m has not taken. The last of a frame has a mark.
    queue: VecDeque<(usize, bool)>,
    /// The datagrams that are due.
    outbox: VecDeque<Vec<u8>>,
    /// The types of payload: video, and video that is sent again.
    pt: Option<Pt>,
    rtx: Option<Pt>,
    most: Rate,
    /// The bytes of video in a full packet.
    room: u64,
    /// The packets of video that arrived.
    arrived: u64,
    view: View,
    broken: Option<String>,
}

impl End {
    /// The instant of a time. It has nanoseconds: fractions are cut off.
    fn instant(&self, time: Time) -> Instant {
        self.zero + std::time::Duration::from(time.since(Time::ZERO))
    }

    fn time(&self, at: Instant) -> Time {
        Time::ZERO + Duration::from(at.saturating_duration_since(self.zero))
    }

    /// Calls str0m with the random numbers of this end.
    fn call<T>(&mut self, call: impl FnOnce(&mut Rtc) -> Result<T, RtcError>) -> Option<T> {
        fastrand::seed(self.random);
        let result = call(&mut self.rtc);
        self.random = fastrand::get_seed();
        match result {
            Ok(result) => Some(result),
            Err(e) => {
                self.broken.get_or_insert_with(|| e.to_string());
                None
            }
        }
    }

    fn advance(&mut self, now: Time) {
        let now = self.instant(now);
        self.call(|rtc| rtc.handle_input(Input::Timeout(now)));
    }

    /// Takes the picture that is due, in packets.
    fn film(&mut self, now: Time) {
        while self.frame <= now {
            let rate = self.view.pacing.map_or(0.0, Rate::as_bps_f64) * USED;
            let rate = rate.min(self.most.as_bps_f64());
            let mut left = (rate / 8.0 / FRAMES as f64) as u64;
            while left > 0 {
                let size = left.min(self.room);
                left -= size;
                self.queue.push_back((size as usize, left == 0));
            }
            self.frames += 1;
            self.frame += Duration::from_ns(1_000_000_000 / FRAMES);
        }
    }

    /// Gives str0m the next packet of video. Returns false if there is none.
    fn write(&mut self, now: Time) -> bool {
        let (Some((size, is_last)), Some(pt)) = (self.queue.pop_front(), self.pt) else {
            return false;
        };
        let (wallclock, time) = (self.instant(now), self.frames * CLOCK / FRAMES);
        self.packets += 1;
        let number = self.packets.into();
        if let Some(stream) = self.rtc.direct_api().stream_tx(&Ssrc::from(VIDEO)) {
            let packet = RtpWrite::new(pt, number, time as u32, wallclock, vec![0; size]);
            stream.write_rtp(packet.marker(is_last).nackable(true));
        }
        self.advance(now);
        true
    }

    fn hear(&mut self, event: Event, now: Time) {
        match event {
            Event::Connected if self.sends => self.frame = now,
            Event::EgressBitrateEstimate(BweKind::Twcc(rate)) => {
                self.view.pacing = Some(Rate::from_bps(rate.as_u64()));
            }
            Event::PeerStats(stats) => {
                if let Some(rtt) = stats.rtt.map(Duration::from) {
                    self.view.rtt = Some(rtt);
                    let least = self.view.min_rtt.map_or(rtt, |least| least.min(rtt));
                    self.view.min_rtt = Some(least);
                }
            }
            Event::RtpPacket(_) => self.arrived += 1,
            _ => {}
        }
    }

    /// Returns true if a datagram has RTP with this type of payload, or any if it is `None`
    /// [RFC 7983 §7, RFC 5761 §4].
    fn has_rtp(datagram: &[u8], wanted: Option<Pt>) -> bool {
        let [first, second, ..] = datagram else {
            return false;
        };
        let pt = second & 0x7f;
        let is_rtp = (128..192).contains(first) && !(64..96).contains(&pt);
        is_rtp && wanted.is_none_or(|wanted| *wanted == pt)
    }
}

impl Carried for End {
    fn supply(&mut self, _packets: u64, is_transfer: bool, now: Time) {
        if is_transfer {
            self.broken = Some("a camera has no files to send".into());
        }
        self.is_open = true;
        self.advance(now);
    }

    fn receive(&mut self, payload: &[u8], _ecn: u8, now: Time) -> bool {
        let (before, at) = (self.arrived, self.instant(now));
        let [here, there] = if self.sends { ADDRESSES } else { [ADDRESSES[1], ADDRESSES[0]] };
        // str0m refuses what it does not understand.
        let Ok(received) = Receive::new(Protocol::Udp, there, here, payload) else {
            return false;
        };
        self.call(|rtc| rtc.handle_input(Input::Receive(at, received)));
        // Whether it is new is an event, behind datagrams that are due.
        while let Some(output) = self.call(Rtc::poll_output) {
            match output {
                Output::Event(event) => self.hear(event, now),
                Output::Transmit(out) => self.outbox.push_back(out.contents.to_vec()),
                Output::Timeout(_) => break,
            }
        }
        self.arrived > before || !End::has_rtp(payload, None)
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        if !self.is_open {
            return None;
        }
        loop {
            if let Some(payload) = self.outbox.pop_front() {
                if self.rtx.is_some() && End::has_rtp(&payload, self.rtx) {
                    self.view.retransmissions += 1;
                }
                return Some(Datagram { payload, ecn: 0 });
            }
            match self.call(Rtc::poll_output)? {
                Output::Transmit(out) => self.outbox.push_back(out.contents.to_vec()),
                Output::Event(event) => self.hear(event, now),
                Output::Timeout(at) => {
                    self.film(now);
                    if !self.write(now) {
                        self.wake = self.time(at);
                        return None;
                    }
                }
            }
        }
    }

    fn next_wake(&mut self) -> Time {
        if self.is_open { self.wake.min(self.frame) } else { Time::MAX }
    }

    fn on_wake(&mut self, now: Time) {
        self.advance(now);
    }

    fn stop(&mut self, _now: Time) {
        self.is_open = false;
    }

    fn view(&self) -> View {
        self.view
    }

    fn broken(&self) -> Option<String> {
        self.broken.clone()
    }
}
