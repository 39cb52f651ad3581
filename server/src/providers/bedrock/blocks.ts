import { toCachePoints } from './cache-points'
import type { CachePoints } from './families'
import type { AdapterTarget } from '../adapter'
import { getPartText, type Piece } from '../conversation'
import { unsupported } from '../unsupported-fields'
import { readDataUrl, type MediaData } from '../media'
import { readCacheControl } from '../../wire/cache-control'
import type { JsonObject } from '../../wire/json-body'

/** A block of a message of Converse. */
export type ConverseBlock = JsonObject

const imageFormats: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

const documentFormats: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
}

/** The state that the blocks of one request share. */
export interface Writing {
  media: AdapterTarget['media']
  cachePoints: CachePoints | undefined
  /** Names of the documents so far: the same name twice is refused there. */
  documents: Set<string>
}

/** Returns the blocks of a message's parts. Throws for parts that Converse has no block for. */
export const toBlocks = (pieces: readonly Piece[], writing: Writing): ConverseBlock[] =>
  pieces.flatMap((piece) => [
    toBlock(piece, writing),
    ...toCachePoints(readCacheControl(piece.part), writing.cachePoints),
  ])

function toBlock({ part, param }: Piece, { media, documents }: Writing): ConverseBlock {
  const text = getPartText(part)
  if (text !== undefined) return { text }
  if (part.type === 'image_url') {
    const { url } = part.image_url
    return toImage(readDataUrl(url) ?? media?.get(url), param)
  }
  if (part.type !== 'file') throw unsupported(param, 'this model does not accept audio.')
  const { file_data: data, filename } = part.file
  const file = typeof data === 'string' ? readDataUrl(data) : undefined
  if (!file) throw unsupported(param, 'this model accepts files as data URLs only.')
  const format = documentFormats[file.mimeType.toLowerCase()]
  if (!format)
    throw unsupported(param, `this model does not accept files of type "${file.mimeType}".`)
  const name = documentName(typeof filename === 'string' ? filename : '', documents)
  return { document: { format, name, source: { bytes: file.base64 } } }
}

function toImage(image: MediaData | undefined, param: string): ConverseBlock {
  const format = image && imageFormats[image.mimeType.toLowerCase()]
  if (!format) throw unsupported(param, 'this model accepts png, jpeg, gif and webp images.')
  return { image: { format, source: { bytes: image.base64 } } }
}

/** A name of the characters that are accepted, and of its own. */
function documentName(filename: string, usedNames: Set<string>): string {
  const stem = filename.replace(/\.[^.]*$/, '')
  const safe = stem.replaceAll(/[^a-zA-Z0-9()[\] -]/g, ' ').replaceAll(/\s+/g, ' ')
  const base = safe.trim().slice(0, 180) || 'Document'
  let name = base
  for (let number = 2; usedNames.has(name); number++) name = `${base} (${number})`
  usedNames.add(name)
  return name
}
