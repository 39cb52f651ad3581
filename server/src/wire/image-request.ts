import { z } from 'zod'
import { imageAddress } from './content-parts'
import { maybe, modelField, text, userField } from './fields'
import { toSparse } from './sparse'

/** Twice what OpenAI's models read. */
const maxPrompt = 64_000
/** Images of one request. */
const maxImages = 10
const maxPartialImages = 3
const maxSide = 8192
const minSide = 16

export const imageQualities = [
  'auto',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
  'standard',
  'hd',
] as const

/** Width and height in pixels. */
export interface ImageSize {
  width: number
  height: number
}

/** Reads `1024x1536`; undefined for any other text. */
export function parseImageSize(size: string): ImageSize | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? []
  return width && height ? { width: Number(width), height: Number(height) } : undefined
}

const isPossible = (side: number) => side >= minSide && side <= maxSide

function isSize(text: string): boolean {
  const size = parseImageSize(text)
  return (
    text === 'auto' || (size !== undefined && isPossible(size.width) && isPossible(size.height))
  )
}

const sizeField = z.string().refine(isSize, {
  params: { issue: 'bad_format' },
  message: `must be auto, or a width and a height of ${minSide} to ${maxSide} pixels such as 1024x1024.`,
})

/** The fields that all requests for images have in common. */
export const imageFields = {
  model: modelField,
  n: maybe(z.int().min(1).max(maxImages)).describe('Number of images'),
  size: maybe(sizeField).describe('`auto`, or width and height in pixels such as `1024x1024`'),
  quality: maybe(z.enum(imageQualities)),
  response_format: maybe(z.enum(['url', 'b64_json'])),
  output_format: maybe(z.enum(['png', 'jpeg', 'webp'])),
  output_compression: maybe(z.int().min(0).max(100)),
  background: maybe(z.enum(['transparent', 'opaque', 'auto'])),
  stream: maybe(z.boolean()).describe('Answer as server-sent events'),
  partial_images: maybe(z.int().min(0).max(maxPartialImages)).describe(
    'Number of unfinished images that a stream shows of each',
  ),
  user: userField,
  safety_identifier: userField,
}

/** Images that are changed in one request. */
export const maxInputs = 16

const InputImage = z.looseObject({ image_url: imageAddress })

/** `POST /v1/images/generations`. Source: contract 4.15. */
export const ImageRequest = toSparse(
  z.looseObject({
    ...imageFields,
    prompt: text(maxPrompt, 1),
    style: maybe(z.enum(['vivid', 'natural'])),
    moderation: maybe(z.enum(['auto', 'low'])),
  }),
)
export type ImageRequest = z.output<typeof ImageRequest>

/** `POST /v1/images/edits`. Source: contract 4.15. */
export const ImageEditRequest = toSparse(
  z.looseObject({
    ...imageFields,
    prompt: text(maxPrompt, 1),
    images: z
      .array(InputImage)
      .min(1)
      .max(maxInputs)
      .describe('The images to change: `https:` addresses or data URLs'),
    mask: maybe(InputImage).describe('Transparent where the first image is to be changed'),
    input_fidelity: maybe(z.enum(['high', 'low'])),
  }),
)
export type ImageEditRequest = z.output<typeof ImageEditRequest>

/** The fields of a request for variations. */
export const variationFields = {
  model: imageFields.model,
  n: imageFields.n,
  size: imageFields.size,
  response_format: imageFields.response_format,
  user: imageFields.user,
  safety_identifier: imageFields.safety_identifier,
}

/** `POST /v1/images/variations`. Source: contract 4.15. */
export const ImageVariationRequest = toSparse(
  z.looseObject({
    ...variationFields,
    images: z
      .array(InputImage)
      .length(1)
      .describe('The image to vary: an `https:` address or a data URL'),
  }),
)
export type ImageVariationRequest = z.output<typeof ImageVariationRequest>

const AnyRequest = z.looseObject({ ...imageFields, prompt: z.string().optional() })

/** A request for images: new, changed, or, where images come without a prompt, varied. */
export type AnyImageRequest = z.output<typeof AnyRequest> & {
  images?: ImageEditRequest['images']
  mask?: ImageEditRequest['mask']
}

/** Returns whether a request is for variations of an image. */
export const isVariation = ({ images, prompt }: Pick<AnyImageRequest, 'images' | 'prompt'>) =>
  images !== undefined && (prompt ?? undefined) === undefined
