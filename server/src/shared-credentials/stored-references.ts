import { rejectStored } from './rejections'
import { isAddress } from './remote-urls'
import { isYouTubeUrl } from '../providers/google/content'
import { isObject, type JsonObject } from '../wire/json-body'

/** Files that were uploaded to Google under a credential, which opens them. https://ai.google.dev/api/files */
const uploadedToGoogle =
  /^https?:\/\/(?:[^/?#\\]*@)?(?:[\w-]+[.-])?generativelanguage\.googleapis\.com\.?(?::\d*)?(?:[/?#\\]|$)/i

/**
 * Returns whether a provider opens an address without any credential: data, and pages of the web. Others name a
 * bucket, a drive or a file of the provider's account or machine.
 */
export const isPublicUrl = (url: string): boolean =>
  /^data:/i.test(url) || (/^https?:\/\//i.test(url) && !uploadedToGoogle.test(url))

const isForeignUrl = (url: unknown): boolean => typeof url === 'string' && !isPublicUrl(url)

const isForeignData = (data: unknown): boolean => isAddress(data) && !isPublicUrl(data)

/** A film on YouTube is everybody's; Gemini takes its address for a file's. */
const isForeignId = (id: unknown): boolean =>
  Boolean(id) && !(typeof id === 'string' && isYouTubeUrl(id))

/** Returns the field of a chat's content part that names what an account holds at a provider, if one does. */
function findStoredField({
  image_url: image,
  audio_url: sound,
  file,
}: JsonObject): string | undefined {
  if (isObject(image) && isForeignUrl(image['url'])) return 'image_url.url'
  if (isObject(sound) && isForeignUrl(sound['url'])) return 'audio_url.url'
  if (!isObject(file)) return undefined
  if (isForeignId(file['file_id'])) return 'file.file_id'
  if (isForeignData(file['file_data'])) return 'file.file_data'
  return file['file_url'] && isForeignUrl(file['file_url']) ? 'file.file_url' : undefined
}

/** Returns whether a content part of a chat names what an account holds at a provider. */
export const hasStoredReference = (part: JsonObject): boolean => findStoredField(part) !== undefined

/** Throws `invalid_request` where a content part of a chat names what an account holds at a provider. */
export function rejectStoredInPart(part: JsonObject, param: string): void {
  const field = findStoredField(part)
  if (field !== undefined) throw rejectStored(`${param}.${field}`)
}

/**
 * Throws `invalid_request` where the messages of a chat that stands for a request of another format name what an
 * account holds at a provider; `relayed-body.ts` checks the chats of callers.
 */
export function rejectStoredInChat({ messages }: JsonObject): void {
  if (!Array.isArray(messages)) return
  for (let index = 0; index < messages.length; index++) {
    const message: unknown = messages[index]
    const content: unknown = isObject(message) ? message['content'] : undefined
    if (!Array.isArray(content)) continue
    for (let at = 0; at < content.length; at++) {
      const part: unknown = content[at]
      if (!isObject(part) || !hasStoredReference(part)) continue
      rejectStoredInPart(part, `messages.${index}.content.${at}`)
    }
  }
}

/** Throws `invalid_request` where an image among inputs, or in one of them, is a file of a provider's account. */
export function rejectStoredInInputs({ input }: JsonObject): void {
  if (!Array.isArray(input)) return
  for (let index = 0; index < input.length; index++) {
    const item: unknown = input[index]
    if (!isObject(item)) continue
    if (isForeignUrl(item['image'])) throw rejectStored(`input.${index}.image`)
    if (isForeignUrl(imageUrlOf(item))) throw rejectStored(`input.${index}.image_url`)
    const { content } = item
    if (!Array.isArray(content)) continue
    for (let at = 0; at < content.length; at++) {
      const part: unknown = content[at]
      if (!isObject(part) || !isForeignUrl(imageUrlOf(part))) continue
      throw rejectStored(`input.${index}.content.${at}.image_url`)
    }
  }
}

/** Returns the address of a part's image, which is a text, or an object with it. */
function imageUrlOf({ image_url: image }: JsonObject): unknown {
  return isObject(image) ? image['url'] : image
}
