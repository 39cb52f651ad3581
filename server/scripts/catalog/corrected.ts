import type { Correction } from './overlay'
import { cleaned, normalized, type Price } from './price'

type Changes = Pick<Correction, 'rates' | 'service_tiers' | 'tiers' | 'bounds' | 'off_peak_days'>

/** A price with some of its rates replaced; null removes one. */
function withRates(price: Price, rates: Correction['rates'] = {}): Price {
  const { tiers, service_tiers: services, hours, ...base } = price
  return {
    ...cleaned({ ...base, ...rates }),
    ...(tiers && { tiers }),
    ...(services && { service_tiers: services }),
    ...(hours && { hours }),
  }
}

/** A price of the sources with what a correction changes of it. */
export function corrected(price: Price, changes: Partial<Changes>): Price {
  const { rates, service_tiers: services = {}, tiers, bounds = {}, off_peak_days: days } = changes
  const moved = <Layer extends Pick<Price, 'tiers'>>(layer: Layer): Layer =>
    layer.tiers
      ? {
          ...layer,
          tiers: layer.tiers.map((tier) => ({ ...tier, above: bounds[tier.above] ?? tier.above })),
        }
      : layer
  const served = Object.entries({ ...price.service_tiers, ...services }).flatMap(
    ([name, service]) => (service ? [[name, moved(service)] as const] : []),
  )
  return normalized({
    ...moved({ ...withRates(price, rates), ...(tiers && { tiers }) }),
    service_tiers: Object.fromEntries(served),
    ...(price.hours && days && { hours: price.hours.map((one) => ({ ...one, except: days })) }),
  })
}
