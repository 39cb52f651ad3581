import type { Transcribing } from './format'
import { unsupported } from '../unsupported-fields'

/** Throws `invalid_request` where the caller wants to know who speaks, of a provider that does not say. */
export function rejectSpeakers({ format }: Pick<Transcribing, 'format'>): void {
  if (format !== 'diarized_json') return
  throw unsupported('response_format', 'response_format: this model does not say who speaks.')
}
