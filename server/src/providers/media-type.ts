const ascii = (bytes: Uint8Array, from: number, to: number) =>
  Buffer.from(bytes.subarray(from, to)).toString('latin1')

/** Brands of the ISO base media format that are images. Source: ISO/IEC 23008-12, AV1 Image File Format. */
const brands: Readonly<Record<string, string>> = {
  heic: 'image/heic',
  heix: 'image/heic',
  mif1: 'image/heif',
  msf1: 'image/heif',
  avif: 'image/avif',
}

/**
 * Detects the media type of bytes by their beginning, whatever their declared type: an image of a kind
 * that models read, or PDF. Undefined for all else. Source: https://mimesniff.spec.whatwg.org and the
 * specifications of the formats
 */
export function detectMediaType(bytes: Uint8Array): string | undefined {
  const start = ascii(bytes, 0, 8)
  if (start === '\x89PNG\r\n\x1a\n') return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif'
  if (start.startsWith('RIFF') && ascii(bytes, 8, 12) === 'WEBP') return 'image/webp'
  if (start.startsWith('%PDF-')) return 'application/pdf'
  return ascii(bytes, 4, 8) === 'ftyp' ? brands[ascii(bytes, 8, 12)] : undefined
}
