/** Preloaded into a program to change its time of day: CLOCK_HOURS ahead, or alternating. */
const hours = Number(process.env['CLOCK_HOURS'])
const isJumping = process.env['CLOCK_JUMPS'] === 'true'
const Real = Date

/** Returns the offset of the clock in ms; an alternating one is ahead or behind each second. */
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
