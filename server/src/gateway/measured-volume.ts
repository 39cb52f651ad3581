import { findMeasuredUnits } from '../catalog/priced-units'
import type { Model } from '../catalog/model'
import type { Timers } from '../platform/config/config'
import { promptCharacters } from '../metering/prompt-characters'
import type { TokenBounds } from '../metering/worst-case'
import type { JsonObject } from '../wire/json-body'

/** The time limits of requests to a provider. */
export type MeasuredTimers = Pick<Timers, 'requestMs' | 'streamMs'>

/**
 * Adds to a volume the characters of the prompt and the time until the deadline of each request to the provider,
 * where the price or the cost charges them. Returns its argument for nearly all prices.
 */
export function withMeasuredVolume(
  volume: TokenBounds,
  { body, model }: { body: JsonObject; model: Pick<Model, 'pricing' | 'cost'> },
  timers: MeasuredTimers,
): TokenBounds {
  const units = findMeasuredUnits(model)
  if (!units) return volume
  const deadlineMs = body['stream'] === true ? timers.streamMs : timers.requestMs
  return {
    ...volume,
    ...(units.characters && { inputCharacters: promptCharacters(body) }),
    ...(units.seconds && { maxProcessingMs: deadlineMs * Math.max(1, volume.requests) }),
  }
}
