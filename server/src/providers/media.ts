import type { CallerChat, ChatRequest } from '../wire/chat-request'

/** Bytes with their type, as they stand in a request. */
export interface MediaData {
  mimeType: string
  base64: string
}

/**
 * Returns the addresses of images in a request, each once, in their order: those to fetch for a provider
 * that does not fetch, without those that the provider can read itself by `isNative`.
 */
export function findImageAddresses(
  { messages }: Pick<CallerChat, 'messages'>,
  isNative: (url: string) => boolean,
): string[] {
  const addresses = new Set<string>()
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content) {
      if (part.type !== 'image_url') continue
      const { url } = part.image_url
      if (!url.startsWith('data:') && !isNative(url)) addresses.add(url)
    }
  }
  return [...addresses]
}

/** Returns the request with the fetched data in place of the addresses. */
export function withData(chat: ChatRequest, media: ReadonlyMap<string, MediaData> = new Map()) {
  if (media.size === 0) return chat
  const messages = chat.messages.map((message) => {
    if (!Array.isArray(message.content)) return message
    const content = message.content.map((part) => {
      const image = part.type === 'image_url' ? media.get(part.image_url.url) : undefined
      if (!image || part.type !== 'image_url') return part
      const url = `data:${image.mimeType};base64,${image.base64}`
      return { ...part, image_url: { ...part.image_url, url } }
    })
    return { ...message, content }
  })
  return { ...chat, messages }
}

/** A `data:<type>;base64,…` URL; undefined for anything else. */
export function readDataUrl(url: string): MediaData | undefined {
  const comma = url.indexOf(',')
  // Megabytes may follow: the pattern sees only the text before the comma.
  const head = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64$/.exec(url.slice(0, comma))
  const mimeType = comma > 0 ? head?.[1] : undefined
  return mimeType === undefined ? undefined : { mimeType, base64: url.slice(comma + 1) }
}
