import type { Correction } from './overlay'
import { normalized, type Price } from './price'

type Changes = Pick<Correction, 'rates' | 'service_tiers' | 'tiers' | 'bounds' | 'off_peak_days'>

/** Applies a correction to a price of the sources. */
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
    ...moved({ ...price, ...rates, ...(tiers && { tiers }) }),
    service_tiers: Object.fromEntries(served),
    ...(price.hours && days && { hours: price.hours.map((one) => ({ ...one, except: days })) }),
  })
}
