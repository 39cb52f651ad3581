/** Limits on the shape of a JSON text, whatever its length. */
export interface ShapeLimits {
  /** Lists and objects in each other. */
  maxDepth: number
  /** Objects, lists and names together. */
  maxNodes: number
  /** Values in all: those, texts, numbers. */
  maxValues: number
  /** Names of one object. */
  maxNames: number
}

/** The limits of a request's body. */
export const bodyShape: ShapeLimits = {
  maxDepth: 64,
  maxNodes: 100_000,
  maxValues: 400_000,
  maxNames: 10_000,
}

/**
 * The limits of a provider's whole answer: embeddings are millions of numbers, log probabilities many
 * objects.
 */
export const answerShape: ShapeLimits = {
  maxDepth: 128,
  maxNodes: 1_000_000,
  maxValues: 5_000_000,
  maxNames: 10_000,
}

/** The limits of one event, one frame, or the arguments of one call, which are parsed at once. */
export const eventShape: ShapeLimits = {
  maxDepth: 128,
  maxNodes: 100_000,
  maxValues: 400_000,
  maxNames: 10_000,
}

const messages: Record<keyof ShapeLimits, (limit: number) => string> = {
  maxDepth: (limit) => `is nested deeper than ${limit} levels`,
  maxNodes: (limit) => `has more than ${limit} objects, lists and names`,
  maxValues: (limit) => `has more than ${limit} values`,
  maxNames: (limit) => `has an object with more than ${limit} names`,
}

/** Describes the limit that a text exceeds, to follow its subject in a sentence. */
export const typeName = (limit: keyof ShapeLimits, limits: ShapeLimits): string =>
  messages[limit](limits[limit])

/** A JSON text has more in it than it may. */
export class ShapeExceeded extends Error {
  override readonly name = 'ShapeExceeded'
  /** The field of the text's own object in which the limit was met, where that is known. */
  readonly field: string | undefined

  /** `message` follows the name of the part that is too large. */
  constructor(message: string, field?: string) {
    super(message)
    this.field = field
  }
}
