/** Loaded before a program that is to have another time of day: CLOCK_HOURS ahead, or jumping to and fro. */
const hours = Number(process.env['CLOCK_HOURS'])
const isJumping = process.env['CLOCK_JUMPS'] === 'true'
const Real = Date

/** What the clock is wrong by, in ms; one that jumps is each second ahead or behind. */
function wrongBy(): number {
  const isBehind = isJumping && Math.floor(Real.now() / 1000) % 2 === 0
  return (isBehind ? -hours : hours) * 3_600_000
}

globalThis.Date = new Proxy(Real, {
  construct: (target, given) =>
    Reflect.construct(target, given.length === 0 ? [target.now() + wrongBy()] : given),
  apply: () => new Real(Real.now() + wrongBy()).toString(),
  get: (target, name) =>
    name === 'now' ? () => target.now() + wrongBy() : Reflect.get(target, name, target),
})
