import type { CallerChat, ChatRequest } from '../wire/chat-request'

/** Bytes with their type, as they stand in a request. */
export interface Media {
  mimeType: string
  base64: string
}

/**
 * The addresses of images in a request, each once, in their order: what has to be fetched for a
 * provider that does not fetch, but for those that `isNative` says it can read itself.
 */
export function imageAddresses(
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

/** The same request with data in place of the addresses of what was fetched. */
export function withData(chat: ChatRequest, media: ReadonlyMap<string, Media> = new Map()) {
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
export function readDataUrl(url: string): Media | undefined {
  const comma = url.indexOf(',')
  // Megabytes may follow: only what is before the comma is looked at.
  const head = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w.+-]+=[^;,]*)*;base64$/.exec(url.slice(0, comma))
  const mimeType = comma > 0 ? head?.[1] : undefined
  return mimeType === undefined ? undefined : { mimeType, base64: url.slice(comma + 1) }
}
