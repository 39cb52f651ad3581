import { z } from 'zod'

/** Null is the same as absent, on every optional field. */
export const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.nullish()
export const text = (most: number, least = 0) => z.string().min(least).max(most)

export const modelField = text(256, 1)
export const samplingFields = {
  temperature: maybe(z.number().min(0).max(2)),
  top_p: maybe(z.number().min(0).max(1)),
}
export const outputLimit = maybe(z.int().min(0))
export const penaltyFields = {
  presence_penalty: maybe(z.number().min(-2).max(2)),
  frequency_penalty: maybe(z.number().min(-2).max(2)),
}
export const streamFields = {
  stream: maybe(z.boolean()),
  stream_options: maybe(z.looseObject({ include_usage: maybe(z.boolean()) })),
}
export const stopField = maybe(z.union([z.string(), z.array(text(100_000, 1)).max(4)]))
export const countField = maybe(z.int().min(1).max(8))
export const logitBias = maybe(z.record(z.string(), z.number().min(-100).max(100)))
export const userField = maybe(text(512))
