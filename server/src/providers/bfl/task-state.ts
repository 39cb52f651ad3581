import { z } from 'zod'
import type { MadeImage } from '../image-adapter'
import { readDataUrl } from '../media'
import { invalidAnswer, toCallerError, type ErrorSource } from '../upstream-error'
import { invalidRequest } from '../../errors'
import { isObject } from '../../wire/json-body'

const State = z.looseObject({
  status: z.string(),
  result: z.looseObject({ sample: z.string().min(1).optional() }).nullish(),
})

/** Returns whether the provider still works on a task, by the state that it answered. */
export const isTaskPending = (answer: unknown): boolean =>
  isObject(answer) && answer['status'] === 'Pending'

/** https://docs.bfl.ai/api_integration/errors: neither of the two is charged. */
const filteredParts: Readonly<Record<string, string>> = {
  'Request Moderated': 'the prompt or an image of it',
  'Content Moderated': 'the image that was made',
}

/**
 * Returns the image in the last state of a task, as Black Forest Labs and those that serve its models have it. Throws
 * `provider_error`, and `invalid_request` for what was filtered.
 */
export function readTaskImage(answer: unknown, source: ErrorSource): MadeImage {
  const parsed = State.safeParse(answer)
  if (!parsed.success) throw invalidAnswer(source.provider, 'no state of the task', parsed.error)
  const { status, result } = parsed.data
  const filteredPart = filteredParts[status]
  if (filteredPart !== undefined) {
    const message = `${source.provider} filtered ${filteredPart}.`
    throw invalidRequest('prompt', 'content_filter', message)
  }
  if (status === 'Ready') return toMadeImage(result?.sample, source)
  // What became of it is unknown: it may have been billed.
  if (status === 'Task not found') throw invalidAnswer(source.provider, 'no state of a lost task')
  const message = `The task ended with the state ${JSON.stringify(status.slice(0, 80))}.`
  throw toCallerError({ status: 500, body: { error: { message } } }, source)
}

function toMadeImage(sample: string | undefined, { provider }: ErrorSource): MadeImage {
  const data = sample === undefined ? undefined : (readDataUrl(sample)?.base64 ?? sample)
  if (data !== undefined && /^https?:\/\//i.test(data)) return { url: data }
  if (data !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(data)) return { b64_json: data }
  throw invalidAnswer(provider, 'a task that is ready without an image')
}
