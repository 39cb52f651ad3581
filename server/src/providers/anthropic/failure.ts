import type { UpstreamFailure } from '../upstream-error'

/**
 * The words about signatures, about a thought that was changed or lacks its signature, and about a call whose thought
 * is missing.
 */
const aboutThoughts =
  /invalid `?signature|invalid `?data`? in `?redacted|thinking\.signature|expected `?thinking`?|`?(?:redacted_)?thinking`? blocks.{0,80}(?:cannot be modified|must remain)/i

/** Returns whether Anthropic refused a history for the thoughts in it. */
export const refusesSignatures = ({ status, body }: UpstreamFailure): boolean =>
  status === 400 && aboutThoughts.test(JSON.stringify(body) ?? '')
