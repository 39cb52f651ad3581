import { z } from 'zod'

/** Forms of requests for images: OpenAI's, or a vendor's own. */
const imageForms = ['openai', 'bfl', 'stability', 'fireworks'] as const

/** The quirks of requests for images in the OpenAI format. */
export const ImageOptions = z
  .strictObject({
    /** The form of requests for images: OpenAI's, which most servers have, or the one of a vendor. */
    form: z.enum(imageForms).default('openai'),
    /** The form of their size: `size`, the two fields `width` and `height`, or `aspect_ratio`. */
    size: z.enum(['size', 'sides', 'ratio']).default('size'),
    /** The aspect ratios that are accepted, of which the nearest is sent. */
    ratios: z.array(z.string().regex(/^\d{1,3}:\d{1,3}$/)).default(['1:1']),
    /** The value of `response_format` that requests data. */
    base64: z.string().default('b64_json'),
    /** Prefixes of models that answer with data alone, and refuse `response_format`. */
    dataModels: z.array(z.string()).default(['gpt-image', 'chatgpt-image']),
    /** How images to change are sent: as OpenAI's `images`, as files of a form, as xAI's or OpenRouter's, or not at all. */
    edits: z.enum(['openai', 'form', 'xai', 'openrouter', 'none']).default('openai'),
    /** The answer states its cost in USD, in `usage.cost`: that is charged, and the price by request is the most of it. */
    statesCost: z.boolean().default(false),
    /** Fields that are left out. */
    drop: z.array(z.string()).default([]),
  })
  .prefault({})
