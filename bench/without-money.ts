// Preloaded into a gateway that is measured without money and limits: nothing is counted, held,
// journalled or booked. For benchmarks only.
import type { Meter } from '../server/src/metering/meter'
import { Metering } from '../server/src/metering/metering'
import { type Admission, RateLimits } from '../server/src/limits/limits'

type Public<Class> = { [Name in keyof Class]: Class[Name] }

const noop = Promise.resolve(0n)
const admission: Public<Admission> = {
  quota: undefined,
  reserve: () => undefined,
  trueUp() {},
  releaseSlot() {},
  release() {},
}
const meter: Public<Meter> = {
  pay() {},
  release() {},
  begin: () => Promise.resolve(),
  passOver() {},
  recordAnswer() {},
  allowance: () => undefined,
  end: () => noop,
  usage: undefined,
}

Object.assign(RateLimits.prototype, { admit: () => admission })
Object.assign(Metering.prototype, { meter: () => meter, hold: () => undefined })
