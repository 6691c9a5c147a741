//! Calls of str0m that carry flows of Accord, by [`accord_net::Net::carry`].
//!
//! [str0m](https://github.com/algesten/str0m) is WebRTC without I/O. Both ends are its state machines, on the time of
//! the run, with ICE, DTLS 1.2 and SRTP between them. The sending end has one video line, and str0m estimates the
//! bandwidth of its path from transport-wide feedback, as the GCC of libwebrtc does. An [`Encoder`] makes frames of the
//! estimated rate. The receiving end is a media server with ICE lite: it sends feedback and asks for lost packets.
//!
//! - A flow of endless data is a call up to the end of the run. The data of an application with a rate of its own
//!   limit the encoder. A transfer breaks the flow: nothing acknowledges a frame, so a call never knows that all has
//!   arrived.
//! - All random numbers and keys of str0m are of the flow's seed, and runs of one process repeat themselves. Runs of
//!   several processes differ a little: first in the feedback, and after losses in all packets. The wall clock may be
//!   the reason, which str0m reads once per process for the times of its reports.
//! - Round-trip times come once per second, and the rate of pacing is the estimate. There is no window. Retransmissions
//!   are packets of RTX: repairs, and copies that str0m sends to probe for bandwidth.
//! - There is no ECN.

mod crypto;

use accord_net::{Carried, Datagram, Duration, Ends, Rate, Setup, Time, View};
use std::collections::VecDeque;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::ice::IceCreds;
use str0m::media::{MediaKind, MediaTime, Mid};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig, RtcError};

/// The headers of IP and UDP around a datagram.
const OUTER: u64 = 28;
/// The largest header of a packet of video [RFC 3550 §5.1] with its extensions [RFC 8285 §4.2], and the number of the
/// packet that it repeats [RFC 4588 §4]. str0m's target for the size of datagrams leaves these out.
const HEADER: u64 = 12 + 4 + 16 + 2;
/// The targets that str0m accepts in bytes.
const TARGETS: [u64; 2] =
    [str0m::DATAGRAM_MTU_TARGET_MIN as u64, str0m::DATAGRAM_MTU_TARGET_MAX as u64];
/// The addresses of the sending end and of the receiving end, which only ICE reads.
const ADDRESSES: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 5000),
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 5000),
];
/// The SSRCs of the video and of its retransmissions.
const SSRCS: [u32; 2] = [1, 2];
/// The time between statistics of str0m, which have the round-trip time.
const STATISTICS: std::time::Duration = std::time::Duration::from_secs(1);
/// The ticks of the RTP clock of video per second [RFC 7741 §4.1].
const CLOCK: u64 = 90_000;
/// The name of the video line.
const VIDEO: &str = "video";
/// The longest time that str0m waits for. A later time means never.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(1 << 22);
/// The most outputs of str0m that are taken at one time.
const TURNS: usize = 10_000;

/// The begin of all runs. str0m derives the wall-clock time of its reports from the distance to an instant of its own,
/// so all runs of a process begin at the same instant.
static ZERO: LazyLock<Instant> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "only differences to it are used")]
    Instant::now()
});

/// A video encoder, which makes frames of one size at the estimated rate. The default rates are libwebrtc's for a
/// single stream of 720 lines: `kDefaultStartBitrateBps`, `kDefaultMinVideoBitrateBps`, and
/// `GetMaxDefaultVideoBitrateKbps` in its `encoder_stream_factory.cc`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoder {
    /// The estimate with which a call begins. The default is 300 kbps.
    pub start: Rate,
    /// The lowest rate of the video, also where the estimate is below it. The default is 30 kbps.
    pub least: Rate,
    /// The highest rate of the video. str0m probes for it. The default is 2.5 Mbps.
    pub most: Rate,
    /// The frames per second, at least 1. The default is 30.
    pub frame_rate: u32,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            start: Rate::from_bps(300_000),
            least: Rate::from_bps(30_000),
            most: Rate::from_bps(2_500_000),
            frame_rate: 30,
        }
    }
}

/// Returns the function that creates calls with this encoder, for [`accord_net::Net::carry`]. It fails for
/// packets below 638 bytes, and for encoders without frames or with `least` above `most`. No packet has more than
/// 1562 bytes.
pub fn with(
    encoder: Encoder,
) -> impl Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static {
    move |setup| {
        let target = setup.packet.get().saturating_sub(OUTER + HEADER);
        if target < TARGETS[0] {
            let least = TARGETS[0] + OUTER + HEADER;
            return Err(format!("packets of {} are below {least} B of str0m", setup.packet));
        }
        if encoder.frame_rate == 0 || encoder.least > encoder.most {
            return Err("an encoder has `frame_rate` from 1 and `least` up to `most`".to_string());
        }
        ends(setup, target.min(TARGETS[1]), encoder)
            .map_err(|e| format!("cannot make a call of str0m: {e}"))
    }
}

/// Creates both ends. They know each other's addresses, keys and streams, as if a server had passed them on.
fn ends(setup: &Setup<'_>, target: u64, encoder: Encoder) -> Result<Ends, Box<dyn Error>> {
    let seed = setup.seed.unwrap_or_else(|| fastrand::u64(..));
    let mut random = [0, 1].map(|number| Random(seed.wrapping_mul(2).wrapping_add(number)));
    let mut sender = random[0].of(|| session(0, target, Some(encoder)))?;
    let mut receiver = random[1].of(|| session(1, target, None))?;
    let print = |rtc: &mut Rtc| rtc.direct_api().local_dtls_fingerprint().clone();
    let prints = [print(&mut receiver), print(&mut sender)];
    for (number, (rtc, print)) in [&mut sender, &mut receiver].into_iter().zip(prints).enumerate() {
        let mut api = rtc.direct_api();
        api.set_remote_fingerprint(print);
        random[number].of(|| api.start_dtls(number == 0))?;
    }
    let [random, other] = random;
    let video = Video::new(encoder, target);
    Ok([
        Box::new(End::new(0, sender, random, Some(video))),
        Box::new(End::new(1, receiver, other, None)),
    ])
}

/// Creates the session of an end, which sends if it has an encoder.
fn session(number: usize, target: u64, encoder: Option<Encoder>) -> Result<Rtc, Box<dyn Error>> {
    let names = [0, 1].map(|end| IceCreds { ufrag: format!("end{end}"), pass: "a".repeat(24) });
    let [local, remote] = [number, 1 - number];
    let target = usize::try_from(target)?;
    let most = target + usize::try_from(HEADER)?;
    let mut config = RtcConfig::new()
        .set_crypto_provider(Arc::new(crypto::provider()))
        .set_dtls_cert(crypto::certificate()?)
        .set_local_ice_credentials(names[local].clone())
        .clear_codecs()
        .enable_vp8(true)
        .set_mtu(target..=most);
    config = match encoder {
        Some(encoder) => config
            .enable_bwe(Some(Bitrate::bps(encoder.start.as_bps())))
            .set_stats_interval(Some(STATISTICS)),
        // Packets are not put together to frames, so there is an event per packet.
        None => config.set_ice_lite(true).set_rtp_mode(true),
    };
    let mut rtc = config.build(*ZERO);
    rtc.add_local_candidate(Candidate::host(ADDRESSES[local], "udp")?);
    rtc.add_remote_candidate(Candidate::host(ADDRESSES[remote], "udp")?);
    let mut api = rtc.direct_api();
    api.set_ice_controlling(encoder.is_some());
    api.set_remote_ice_credentials(names[remote].clone());
    let mid = Mid::from(VIDEO);
    api.declare_media(mid, MediaKind::Video);
    let [main, again] = SSRCS.map(Into::into);
    if let Some(encoder) = encoder {
        api.declare_stream_tx(main, Some(again), mid, None);
        rtc.bwe().set_bitrate(Bitrate::ZERO, Bitrate::bps(encoder.most.as_bps()));
    } else {
        api.expect_stream_rx(main, Some(again), mid, None);
        api.enable_twcc_feedback();
    }
    Ok(rtc)
}

/// The state of an end's random numbers. str0m draws them from the generator of the thread.
struct Random(u64);

impl Random {
    /// Calls a function whose random numbers are this end's.
    fn of<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let before = fastrand::get_seed();
        fastrand::seed(self.0);
        let result = run();
        self.0 = fastrand::get_seed();
        fastrand::seed(before);
        result
    }
}

/// The video of a call.
struct Video {
    encoder: Encoder,
    /// The bytes of video in a full packet, about.
    payload: u64,
    /// The bytes of the application that are in no frame. `u64::MAX` is unlimited.
    unsent: u64,
    /// The time of the first frame, from the time that str0m is connected.
    begin: Option<Time>,
    /// The frames so far.
    frames: u64,
    /// The estimated bandwidth in bit/s.
    estimate: Option<u64>,
}

impl Video {
    fn new(encoder: Encoder, payload: u64) -> Video {
        Video { encoder, payload, unsent: 0, begin: None, frames: 0, estimate: None }
    }

    /// The time of the next frame.
    fn next(&self) -> Option<Time> {
        let nanoseconds =
            u128::from(self.frames) * 1_000_000_000 / u128::from(self.encoder.frame_rate);
        let since = Duration::from_ns(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        self.begin.filter(|_| self.unsent > 0).map(|begin| begin + since)
    }

    /// Leaves out the frames before this time, for which there was no data.
    fn skip(&mut self, now: Time) {
        if let Some(begin) = self.begin {
            let passed = u128::from(now.since(begin).as_ps()) * u128::from(self.encoder.frame_rate);
            let frames = u64::try_from(passed.div_ceil(1_000_000_000_000)).unwrap_or(u64::MAX);
            self.frames = self.frames.max(frames);
        }
    }

    /// Takes the next frame. Returns its RTP time and its size in bytes.
    fn frame(&mut self) -> (u64, usize) {
        let Encoder { least, most, frame_rate, start } = self.encoder;
        let rate = self.estimate.unwrap_or(start.as_bps()).clamp(least.as_bps(), most.as_bps());
        let bytes = (rate / 8 / u64::from(frame_rate)).clamp(1, self.unsent);
        if self.unsent < u64::MAX {
            self.unsent -= bytes;
        }
        let time = self.frames * CLOCK / u64::from(frame_rate);
        self.frames += 1;
        (time, usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

/// An end of a call.
struct End {
    number: usize,
    rtc: Rtc,
    random: Random,
    /// The encoder of the sending end.
    video: Option<Video>,
    /// True from the first data, or the first datagram that arrives.
    opened: bool,
    stopped: bool,
    leaving: VecDeque<Vec<u8>>,
    /// The time at which str0m wants to be woken.
    wake: Option<Instant>,
    /// The packets of video that have arrived for the first time.
    arrived: u64,
    view: View,
    broken: Option<String>,
}

/// The instant of a time. It has nanoseconds: fractions are cut off.
fn instant(time: Time) -> Instant {
    *ZERO + std::time::Duration::from(time.since(Time::ZERO))
}

impl End {
    fn new(number: usize, rtc: Rtc, random: Random, video: Option<Video>) -> End {
        End {
            number,
            rtc,
            random,
            video,
            opened: false,
            stopped: false,
            leaving: VecDeque::new(),
            wake: None,
            arrived: 0,
            view: View::default(),
            broken: None,
        }
    }

    /// Hands an input to str0m, and takes all outputs of this time.
    fn turn(&mut self, input: Input<'_>, now: Time) {
        let mut random = Random(self.random.0);
        let result = random.of(|| self.drain(input, now));
        self.random = random;
        if let Err(e) = result {
            self.broken.get_or_insert_with(|| e.to_string());
        }
    }

    fn drain(&mut self, input: Input<'_>, now: Time) -> Result<(), RtcError> {
        let at = instant(now);
        self.rtc.handle_input(input)?;
        for _ in 0..TURNS {
            match self.rtc.poll_output()? {
                Output::Transmit(transmit) => self.send(transmit.contents.to_vec()),
                Output::Event(event) => self.hear(event, now),
                Output::Timeout(wake) => {
                    self.wake = Some(wake);
                    if wake > at {
                        return Ok(());
                    }
                    self.rtc.handle_input(Input::Timeout(at))?;
                }
            }
        }
        Ok(())
    }

    /// Queues a datagram.
    fn send(&mut self, datagram: Vec<u8>) {
        // A packet of the second stream repeats data unless it is all padding [RFC 3550 §5.1], [RFC 4588 §4].
        if let [first, kind, _, _, _, _, _, _, ssrc @ ..] = &datagram[..]
            && matches!(first, 128..192)
            && !matches!(kind, 192..224)
            && ssrc.starts_with(&SSRCS[1].to_be_bytes())
            && first & 0x20 == 0
        {
            self.view.retransmissions += 1;
        }
        self.leaving.push_back(datagram);
    }

    fn hear(&mut self, event: Event, now: Time) {
        match event {
            Event::Connected => {
                if let Some(video) = &mut self.video {
                    video.begin = Some(now);
                }
            }
            Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) => {
                if let Some(video) = &mut self.video {
                    video.estimate = Some(estimate.as_u64());
                    self.view.pacing = Some(Rate::from_bps(estimate.as_u64()));
                }
            }
            Event::RtpPacket(packet) if !packet.payload.is_empty() => self.arrived += 1,
            Event::PeerStats(statistics) => {
                if let Some(rtt) = statistics.rtt.map(Duration::from) {
                    self.view.rtt = Some(rtt);
                    self.view.min_rtt = Some(self.view.min_rtt.map_or(rtt, |min| min.min(rtt)));
                }
            }
            Event::Closed if !self.stopped && self.video.is_some() => {
                self.broken.get_or_insert_with(|| "the peer ended the call".to_string());
            }
            _ => {}
        }
    }

    /// Runs the timers of str0m and of the encoder.
    fn run(&mut self, now: Time) {
        while let Some(video) = &mut self.video
            && !self.stopped
            && video.next().is_some_and(|at| at <= now)
        {
            let (time, bytes) = video.frame();
            self.write(time, bytes, now);
            self.turn(Input::Timeout(instant(now)), now);
        }
        if self.opened && self.wake.is_none_or(|wake| wake <= instant(now)) {
            self.turn(Input::Timeout(instant(now)), now);
        }
    }

    /// Writes a frame.
    fn write(&mut self, time: u64, bytes: usize, now: Time) {
        let vp8 = self.rtc.codec_config().find(|params| params.spec().codec == Codec::Vp8);
        let vp8 = vp8.map(|params| params.pt()).expect("the codec of the session");
        let writer = self.rtc.writer(Mid::from(VIDEO)).expect("the line of the session");
        let frame: Arc<[u8]> = vec![0; bytes].into();
        if let Err(e) = writer.write(vp8, instant(now), MediaTime::from_90khz(time), frame) {
            self.broken.get_or_insert_with(|| e.to_string());
        }
    }
}

impl Carried for End {
    fn supply(&mut self, packets: u64, is_transfer: bool, now: Time) {
        let Some(video) = &mut self.video else { return };
        if is_transfer {
            self.broken.get_or_insert_with(|| {
                "a call has no transfers: nothing acknowledges a frame".to_string()
            });
            return;
        }
        if video.unsent == 0 {
            video.skip(now);
        }
        video.unsent = video.unsent.saturating_add(packets.saturating_mul(video.payload));
        self.opened = true;
        self.run(now);
    }

    fn receive(&mut self, payload: &[u8], _ecn: u8, now: Time) -> bool {
        self.opened = true;
        let known = self.arrived;
        let [local, peer] = [self.number, 1 - self.number];
        match Receive::new(Protocol::Udp, ADDRESSES[peer], ADDRESSES[local], payload) {
            Ok(datagram) => self.turn(Input::Receive(instant(now), datagram), now),
            Err(e) => {
                self.broken.get_or_insert_with(|| e.to_string());
            }
        }
        // Only packets of RTP, which the second byte tells from those of RTCP, can be copies or padding.
        let is_rtp = matches!(payload, [128..192, kind, ..] if !matches!(kind, 192..224));
        !is_rtp || self.arrived > known
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        if self.leaving.is_empty() {
            self.run(now);
        }
        self.leaving.pop_front().map(|payload| Datagram { payload, ecn: 0 })
    }

    fn next_wake(&mut self) -> Time {
        if !self.opened {
            return Time::MAX;
        }
        let frame = self
            .video
            .as_ref()
            .filter(|_| !self.stopped)
            .and_then(Video::next)
            .unwrap_or(Time::MAX);
        let since = self.wake.map(|wake| wake.saturating_duration_since(*ZERO));
        let wake =
            since.filter(|since| *since < LONGEST).map(|since| Time::ZERO + Duration::from(since));
        frame.min(wake.unwrap_or(Time::MAX))
    }

    fn on_wake(&mut self, now: Time) {
        self.run(now);
    }

    fn stop(&mut self, now: Time) {
        self.stopped = true;
        if self.opened {
            let mut random = Random(self.random.0);
            let closed = random.of(|| self.rtc.close());
            self.random = random;
            if let Err(e) = closed {
                self.broken.get_or_insert_with(|| e.to_string());
            }
            self.turn(Input::Timeout(instant(now)), now);
        }
    }

    fn view(&self) -> View {
        self.view
    }

    fn broken(&self) -> Option<String> {
        self.broken.clone()
    }
}
