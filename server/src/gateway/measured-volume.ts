import { pricedUnits } from '../catalog/priced-units'
import type { Model } from '../catalog/model'
import type { Timers } from '../config'
import { promptCharacters } from '../metering/prompt-characters'
import type { Volume } from '../metering/worst-case'
import type { JsonObject } from '../wire/json-body'

/** How long requests to a provider may take. */
export type MeasuredTimers = Pick<Timers, 'requestMs' | 'streamMs'>

/**
 * A volume with the characters of the prompt, and with the time until the deadline of each request to the
 * provider, where the price charges them. The same object for nearly all prices.
 */
export function withMeasuredVolume(
  volume: Volume,
  { body, model }: { body: JsonObject; model: Pick<Model, 'pricing'> },
  timers: MeasuredTimers,
): Volume {
  const units = pricedUnits(model.pricing)
  if (!units) return volume
  const deadlineMs = body['stream'] === true ? timers.streamMs : timers.requestMs
  return {
    ...volume,
    ...(units.characters && { inputCharacters: promptCharacters(body) }),
    ...(units.seconds && { maxProcessingMs: deadlineMs * Math.max(1, volume.requests) }),
  }
}
