import { z } from 'zod'

/** Null is the same as absent, on every optional field. */
export const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish()
export const text = (max: number, min = 0) => z.string().min(min).max(max)

export const modelField = text(256, 1).describe(
  '`<provider>/<model>`; `GET /v1/models` lists the available models',
)
export const samplingFields = {
  temperature: maybe(z.number().min(0).max(2)),
  top_p: maybe(z.number().min(0).max(1)),
}
export const outputLimit = maybe(z.int().min(0)).describe('Maximum number of tokens of one choice')
export const penaltyFields = {
  presence_penalty: maybe(z.number().min(-2).max(2)),
  frequency_penalty: maybe(z.number().min(-2).max(2)),
}
export const streamFields = {
  stream: maybe(z.boolean()).describe('Answer as server-sent events, ended by `data: [DONE]`'),
  stream_options: maybe(
    z.looseObject({
      include_usage: maybe(z.boolean()).describe('Send the tokens used, in a last chunk'),
    }),
  ),
}
export const stopField = maybe(z.union([z.string(), z.array(text(100_000, 1)).max(4)]))
export const countField = maybe(z.int().min(1).max(8)).describe('Number of choices')

/** A map with at most so many members. */
export const mapOf = <Key extends z.ZodString, Value extends z.ZodType>(
  key: Key,
  value: Value,
  maxPairs: number,
) =>
  z
    .record(key, value)
    .refine((pairs) => Object.keys(pairs).length <= maxPairs, {
      params: { issue: 'too_many' },
      message: `has more than ${maxPairs} pairs.`,
    })
    .meta({ maxProperties: maxPairs })

export const logitBias = maybe(mapOf(text(64), z.number().min(-100).max(100), 1024))
export const userField = maybe(text(512))
export const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
export const metadataField = maybe(mapOf(text(64), text(512), 16))

/** Token ids of one text. */
export const tokenIds = z.array(z.int().min(0)).min(1).max(100_000)

/**
 * The maximum of parts of one message in a format that states no bound of its own, and of tools of one
 * request.
 */
export const maxParts = 10_000
export const maxTools = 2000
