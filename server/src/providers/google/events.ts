import { z } from 'zod'
import { toGoogleError } from './failure'
import { isObject } from '../../wire/json-body'
import { eventShape } from '../../wire/json-shape'
import { parseShaped } from '../../wire/json-slices'
import { invalidAnswer, type ErrorSource } from '../upstream-error'

const PartialArg = z.looseObject({
  jsonPath: z.string(),
  stringValue: z.string().optional(),
  numberValue: z.number().optional(),
  boolValue: z.boolean().optional(),
})
export type PartialArg = z.output<typeof PartialArg>

const FunctionCall = z.looseObject({
  id: z.string().nullish(),
  name: z.string().nullish(),
  args: z.record(z.string(), z.unknown()).nullish(),
  partialArgs: z.array(PartialArg).nullish(),
  willContinue: z.boolean().nullish(),
})
export type FunctionCall = z.output<typeof FunctionCall>

const EventPart = z.looseObject({
  text: z.string().nullish(),
  thought: z.boolean().nullish(),
  thoughtSignature: z.string().nullish(),
  functionCall: FunctionCall.nullish(),
  inlineData: z.looseObject({ mimeType: z.string(), data: z.string() }).nullish(),
})
export type EventPart = z.output<typeof EventPart>

const GoogleEvent = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({ parts: z.array(EventPart).nullish() }).nullish(),
        finishReason: z.string().nullish(),
        groundingMetadata: z.unknown().optional(),
      }),
    )
    .nullish(),
  promptFeedback: z.looseObject({ blockReason: z.string().nullish() }).nullish(),
  usageMetadata: z.unknown().optional(),
})
export type GoogleEvent = z.output<typeof GoogleEvent>

/** Reads an event's `data`. Throws the error that an error in its place stands for, and for anything else. */
export function readEvent(data: string, source: ErrorSource): GoogleEvent {
  let value: unknown
  try {
    value = parseShaped(data, eventShape)
  } catch (cause) {
    throw invalidAnswer(source.provider, 'an unreadable event', cause)
  }
  // An error may come in an array, as if the stream were one.
  const body: unknown = Array.isArray(value) ? value[0] : value
  if (isObject(body) && body['error']) throw toGoogleError({ status: 200, body }, source)
  const event = GoogleEvent.safeParse(body)
  if (!event.success)
    throw invalidAnswer(source.provider, 'an event with an unexpected shape', event.error)
  return event.data
}
