import { ApiError } from '../../errors'

const newest = 1000

/**
 * The generation of a Gemini model, such as 2.5: 0 for Gemma and whatever has no number, and more
 * than any for the names that always mean the newest.
 */
export function parseGeneration(model: string): number {
  const name = model.slice(model.lastIndexOf('/') + 1)
  if (/^gemini-[a-z-]+-latest$/.test(name)) return newest
  return Number(/^gemini-(\d+(?:\.\d+)?)(?![\d.])/.exec(name)?.[1] ?? 0)
}

export const isGemma = (model: string): boolean => /(?:^|\/)gemma/.test(model)

/** A model's name as the part of a path that it is. Throws `invalid_model` for one that climbs. */
export function toModelPath(model: string): string {
  const segments = model.replace(/^models\//, '').split('/')
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) throw new ApiError('invalid_model')
  return segments.map((segment) => encodeURIComponent(segment).replaceAll('%40', '@')).join('/')
}
