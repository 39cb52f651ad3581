import { parseImageSize } from '../wire/image-request'

const ratioOf = (text: string): number => {
  const [width = 1, height = 1] = text.split(':').map(Number)
  return width / height
}

/** Returns the nearest of a provider's aspect ratios to a requested size; undefined where the size is left to the model. */
export function toAspectRatio(
  size: string | null | undefined,
  ratios: readonly string[],
): string | undefined {
  const parsed = typeof size === 'string' ? parseImageSize(size) : undefined
  if (!parsed) return undefined
  const wantedRatio = Math.log(parsed.width / parsed.height)
  const distance = (ratio: string) => Math.abs(Math.log(ratioOf(ratio)) - wantedRatio)
  return ratios.toSorted((one, other) => distance(one) - distance(other))[0]
}

/** Pixels from which an image is nearer to two megapixels a side than to one, and to four than to two. */
const minPixelsOf2K = 1_750_000
const minPixelsOf4K = 6_500_000

/** Returns the class of a requested size in Google's words; undefined where the size is left to the model. */
export function toSizeClass(size: string | null | undefined): '1K' | '2K' | '4K' | undefined {
  const parsed = typeof size === 'string' ? parseImageSize(size) : undefined
  if (!parsed) return undefined
  const pixels = parsed.width * parsed.height
  if (pixels >= minPixelsOf4K) return '4K'
  return pixels >= minPixelsOf2K ? '2K' : '1K'
}
