import { z } from 'zod'
import { maybe } from './fields'

export const imageAddress = z
  .string()
  .regex(
    /^(https:|data:image\/[\w.+-]+;base64,)/,
    'must be an https: or data:image/...;base64 URL.',
  )

/** Clients send files as images too; a model that takes none refuses them. */
const mediaAddress = z
  .string()
  .regex(
    /^(https:|data:[\w.+-]+\/[\w.+-]+(?:;[\w.+-]+=[^;,]{1,100})?;base64,)/,
    'must be an https: or data:...;base64 URL.',
  )

const audioAddress = z
  .string()
  .regex(
    /^(https:|data:audio\/[\w.+-]+(?:;[\w.+-]+=[^;,]{1,100})?;base64,)/,
    'must be an https: or data:audio/...;base64 URL.',
  )

/** The name of a format of sound, such as `wav`; which of them a model takes is its provider's matter. */
export const audioFormat = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.+-]{0,31}$/i, 'must be the name of a format, such as wav or mp3.')

const plainParts = [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('image_url'),
    image_url: z.looseObject({
      url: mediaAddress,
      detail: maybe(z.enum(['auto', 'low', 'high'])),
    }),
  }),
  z.looseObject({
    type: z.literal('input_audio'),
    input_audio: z.looseObject({ data: z.string(), format: audioFormat }),
  }),
  z.looseObject({
    type: z.literal('file'),
    file: z.looseObject({ file_data: maybe(z.string()), file_id: maybe(z.string()) }),
  }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
] as const

/** The parts that adapters read. */
export const PlainPart = z.discriminatedUnion('type', plainParts)

/** The parts of callers; vLLM and its like take sound by URL. */
export const CallerPart = z.discriminatedUnion('type', [
  ...plainParts,
  z.looseObject({
    type: z.literal('audio_url'),
    audio_url: z.looseObject({ url: audioAddress }),
  }),
])
