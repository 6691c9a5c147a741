//! The keys of demands and of packet sizes.

use super::{key, one_of, section};
use accord_form::Default;
use crate::shape::{Key, Section, Shape, Own};
use Default::{Nothing, Required, Value, Words};

pub(crate) const DEMANDS: Section = one_of("demand",
    "The data that the application has to send; \"greedy\" always has more.", &[
    key("size", Shape::Amount, Nothing, "This amount, once."),
    key("constant", Shape::Rate, Nothing, "A constant rate, headers included."),
    key("poisson", Shape::Rate, Nothing, "Packets at random instants, with this mean rate."),
    key("on_off", Shape::Table(&ON_OFF), Nothing, "Bursts and pauses, over one connection that lasts."),
    key("web", Shape::Table(&WEB), Nothing, "The pages of a web user, a new connection for each file; `{}` for the defaults."),
    key("media", Shape::Table(&MEDIA), Nothing, "Live video, at a rate that follows the rate that the controller allows."),
]);

pub(crate) const MEDIA: Section = section("demand.media",
    "Live video after the statistical model of RFC 8593 §5: frames whose sizes and intervals vary about those of a target rate. The target follows the rate that the controller allows, by its pacing or its window per round trip. A sender without a controller has the highest rate.", &[
    key("min", Shape::Rate, Value("150 Kbps"), "Lowest target rate, R_min."),
    key("max", Shape::Rate, Value("1.5 Mbps"), "Highest target rate, R_max. `demand_rate` of an event changes it. The theory and fluid engines take it for the rate of the demand."),
    key("fps", Shape::Number(0.1, 10_000.0), Value("30"), "Frames per second."),
    key("latency", Shape::Delay, Value("200 ms"), "The target changes once in this time at most, τ_v."),
    key("size_scale", Shape::Number(0.0, 1.0), Value("0.15"), "Scale of the Laplace variable by which sizes of frames vary, relative to their mean."),
    key("interval_scale", Shape::Number(0.0, 1.0), Value("0.15"), "The same of their intervals."),
    key("burst", Shape::Whole(0, 1000), Value("8"), "Frames of a transient, K_d; with 0 there are none."),
    key("burst_size", Shape::Number(0.1, 1000.0), Value("3.24"), "Size of the first frame of a transient, relative to the mean. The others are smaller, so all have the mean."),
    key("change", Shape::Number(0.0, 1000.0), Value("0.5"), "Relative change of the target above which there is a transient."),
    key("pause", Shape::Pair(&Shape::Instant), Nothing, "A part of the run in which the source is silent; a transient follows."),
]);

pub(crate) const WEB: Section = section("demand.web",
    "A user of the web after Barford and Crovella's SURGE: it fetches a page (a main file, then the objects embedded in it, with a pause before each), thinks, and fetches the next. Every file takes a new connection. The first page comes after a random part of a think time, so users that start together are not in step.", &[
    key("body_mu", Shape::Number(0.0, 40.0), Value("9.357"), "Files, lognormal: mean μ of the natural logarithm of the size in bytes."),
    key("body_sigma", Shape::Number(0.0, 10.0), Value("1.318"), "Its standard deviation σ."),
    key("tail_share", Shape::Probability, Value("7 %"), "Share of files that come from a Pareto tail instead."),
    key("tail_least", Shape::Amount, Value("133 KB"), "Smallest file of the tail, k."),
    key("tail_shape", Shape::Number(0.1, 100.0), Value("1.1"), "Exponent α of the tail: a share (k/x)^α of it is larger than x."),
    key("largest", Shape::Amount, Value("1 GB"), "The largest size; larger draws become this."),
    key("objects_shape", Shape::Number(1.05, 100.0), Value("2.43"), "Embedded objects of a page: Pareto from 1 with this exponent, rounded down."),
    key("off_scale", Shape::Span, Value("1.46 s"), "Pause before each embedded object, Weibull: scale λ."),
    key("off_shape", Shape::Number(0.1, 100.0), Value("0.382"), "Its shape s: a share exp(−(t/λ)^s) of them is longer than t."),
    key("think_least", Shape::Span, Value("1 s"), "Think time between pages, Pareto: the shortest, k."),
    key("think_shape", Shape::Number(0.1, 100.0), Value("1.5"), "Exponent α of the think time."),
    key("longest", Shape::Span, Value("1 h"), "The longest pause; longer draws become this."),
    key("load", Shape::Rate, Words("left out there"), "Mean rate of a user in the theory and fluid engines, which do not have files."),
]);

pub(crate) const ON_OFF: Section = section("demand.on_off",
    "Bursts and pauses, each of constant or of random size and length.", &[
    key("rate", Shape::Rate, Words("as fast as the controller allows"), "The rate in a burst."),
    key("burst", Shape::Either(&[Shape::Amount, Shape::Table(&RANDOM_AMOUNT)]), Required, "Size of a burst; `{ exponential = \"1 MB\" }` is a random size for each."),
    key("pause", Shape::Either(&[Shape::Span, Shape::Table(&RANDOM_SPAN)]), Required, "Length of a pause; `{ exponential = \"3 s\" }` is a random length for each."),
]);

pub(crate) const RANDOM_AMOUNT: Section = one_of("demand.on_off.burst",
    "A random size for each burst.", &[
    key("exponential", Shape::Amount, Nothing, "Exponentially distributed, with this mean."),
    key("pareto", Shape::Table(&PARETO_AMOUNT), Nothing, "Pareto distributed: most are small, few are huge."),
]);

pub(crate) const PARETO_AMOUNT: Section = section("pareto of a size",
    "P(more than x) = (least/x)^shape from a least value on, which follows from the mean.", &[key("mean", Shape::Amount, Required, "The mean."), PARETO_SHAPE]);

const PARETO_SHAPE: Key = key("shape", Shape::Number(1.01, 100.0), Required, "Of the tail; the variance is infinite up to 2.");

pub(crate) const RANDOM_SPAN: Section = one_of("demand.on_off.pause",
    "A random length for each pause.", &[
    key("exponential", Shape::Span, Nothing, "Exponentially distributed, with this mean."),
    key("pareto", Shape::Table(&PARETO_SPAN), Nothing, "Pareto distributed: most are short, few are very long."),
]);

pub(crate) const PARETO_SPAN: Section = section("pareto of a time",
    "P(more than x) = (least/x)^shape from a least value on, which follows from the mean.", &[key("mean", Shape::Span, Required, "The mean."), PARETO_SHAPE]);

pub(crate) const PACKET_SIZES: Section = one_of("packet",
    "A random size for each packet, from 40 B to 65535 B, for senders with `controller = \"none\"`. A demand's rate holds on average: instants do not depend on sizes. The theory and fluid engines see the mean.", &[
    key("exponential", Shape::Own(Own::Packet), Nothing, "Exponentially distributed with this mean, to the next byte; draws beyond a bound become the bound."),
    key("uniform", Shape::Pair(&Shape::Own(Own::Packet)), Nothing, "Any whole number of bytes between these two alike, both included."),
    key("mix", Shape::Map(&Shape::Whole(1, 1_000_000)), Nothing, "One of these sizes, each as often as its number says: `{ \"40 B\" = 7, \"576 B\" = 4, \"1500 B\" = 1 }` is an Internet mix."),
]);
