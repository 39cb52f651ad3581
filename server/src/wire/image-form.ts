import { z } from 'zod'
import { imageFields, ImageEditRequest, maxInputs, variationFields } from './image-request'
import type { JsonObject } from './json-body'
import { UploadedFile } from './uploaded-file'
import { invalidRequest } from '../errors'

const file = z.string().meta({ format: 'binary' })

/** `POST /v1/images/edits` as a form, for its description. Source: contract 4.15. */
export const ImageEditForm = z.looseObject({
  ...imageFields,
  prompt: ImageEditRequest.shape.prompt,
  image: z
    .union([file, z.array(file).min(1).max(maxInputs)])
    .describe('The files to change: one in `image`, or up to 16 in `image[]`'),
  mask: file.optional().describe('Transparent where the first image is to be changed'),
  input_fidelity: ImageEditRequest.shape.input_fidelity,
})

/** `POST /v1/images/variations` as a form, for its description. Source: contract 4.15. */
export const ImageVariationForm = z.looseObject({
  ...variationFields,
  image: file.describe('The file to vary'),
})

/** An image of a form, with the type of its content. */
export interface ImageFile {
  file: UploadedFile
  type: string
}

/** The images of a form, and its other fields with the types that they have in JSON. */
export interface ReadImageForm {
  fields: JsonObject
  images: ImageFile[]
  mask: ImageFile | undefined
}

const numbers = ['n', 'output_compression', 'partial_images']
const booleans: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false }
/** Fields whose empty text is an error, as in JSON; others are absent then. */
const requiredTexts = ['model', 'prompt']

/** Reads a form with images to change. Throws `invalid_request`. */
export function readImageForm({ image, mask, ...texts }: JsonObject): ReadImageForm {
  if ('images' in texts)
    throw invalidRequest('images', 'not_allowed', 'images: a form has them as files, in image.')
  const fields: JsonObject = {}
  for (const [name, value] of Object.entries(texts)) {
    if (value !== '' || requiredTexts.includes(name)) fields[name] = toTyped(name, value)
  }
  const files: unknown[] = Array.isArray(image) ? image : [image]
  return {
    fields,
    images: files.map((one) => toImageFile('image', one)),
    mask: mask === undefined ? undefined : toImageFile('mask', mask),
  }
}

/** Returns a text as the number or boolean that its field has; a text that is none stays, to be refused as in JSON. */
function toTyped(name: string, value: unknown): unknown {
  if (typeof value !== 'string' || value.trim() === '') return value
  if (name === 'stream') return booleans[value.toLowerCase()] ?? value
  if (!numbers.includes(name) || Number.isNaN(Number(value))) return value
  return Number(value)
}

/** The types of images by the ends of their names, for clients that know no type. */
const typesByEnd: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
}

function toImageFile(field: string, value: unknown): ImageFile {
  if (value === undefined)
    throw invalidRequest(field, 'required', `${field}: this field is required, as a file.`)
  if (!(value instanceof UploadedFile))
    throw invalidRequest(
      field,
      'wrong_type',
      `${field}: must be a file${field === 'image' ? ', or files in image[]' : ''}.`,
    )
  const type = imageTypeOf(value)
  if (type !== undefined) return { file: value, type }
  const typeName = value.type.slice(0, 80) || 'of an unknown type'
  throw invalidRequest(field, 'wrong_type', `${field}: must be an image, and not ${typeName}.`)
}

function imageTypeOf({ type, name }: UploadedFile): string | undefined {
  if (/^image\/[\w.+-]+$/i.test(type)) return type.toLowerCase()
  if (type !== '' && type !== 'application/octet-stream') return undefined
  const end = /\.(\w+)$/.exec(name)?.[1] ?? ''
  return typesByEnd[end.toLowerCase()]
}
