import { editDistance } from '../platform/edit-distance'

/** Longer paths are not compared: the time of a comparison grows with the square of the length. */
const maxComparedLength = 80
const maxEdits = 2
/** Letters that two names share at their beginning before one is taken for the other. */
const minSharedLetters = 4

/** `/v1` of this service, and the second version of Cohere's API. */
const version = /^\/v[12]\//

const firstOf = (rest: string) => rest.split('/')[0] ?? ''
const lastOf = (rest: string) => rest.split('/').at(-1) ?? ''

function countSharedLetters(one: string, other: string): number {
  let count = 0
  while (count < one.length && one[count] === other[count]) count += 1
  return count
}

/** `image` and `images`, `embed` and `embeddings`. */
const isAlike = (one: string, other: string) =>
  editDistance(one, other, 1) <= 1 ||
  countSharedLetters(one, other) >= Math.max(minSharedLetters, Math.min(one.length, other.length))

/** Those of the paths that have the highest score, unless that is below `least`. */
function best(paths: readonly string[], least: number, score: (path: string) => number): string[] {
  const scores = paths.map(score)
  const highest = Math.max(least, ...scores)
  return paths.filter((_, at) => scores[at] === highest)
}

/**
 * Finds the endpoints that a client may have meant by a path that none has, as those of `paths` that end or begin with
 * it, that differ in up to two letters, or that are of the same subject; none where nothing is near.
 */
export function findNearestEndpoints(path: string, paths: readonly string[]): string[] {
  if (path.length > maxComparedLength || !version.test(path)) return []
  const rest = path.replace(version, '').replace(/\/$/, '').toLowerCase()
  if (rest === '') return []
  const names = paths.map((one) => one.replace(version, ''))
  const under = names.filter((one) => one.startsWith(`${rest}/`) || one.endsWith(`/${rest}`))
  const misspelt = best(names, -maxEdits, (one) => -editDistance(rest, one, maxEdits))
  const sameSubject = names.filter((one) => isAlike(firstOf(rest), firstOf(one)))
  const sameName = best(sameSubject, minSharedLetters, (one) =>
    countSharedLetters(lastOf(rest), lastOf(one)),
  )
  const nearest = [under, misspelt, sameName, sameSubject].find((some) => some.length > 0) ?? []
  return paths.filter((one) => nearest.includes(one.replace(version, '')))
}
