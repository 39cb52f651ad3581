import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/db/schema'

const grades = [1, 2, 3, 4, 5] as const
type Grade = `${(typeof grades)[number]}`

/** Aggregates of a model's ratings. */
export interface RatingSum {
  /** Two decimals; null without ratings. */
  average: number | null
  count: number
  distribution: Record<Grade, number>
}

export const noRatings: RatingSum = {
  average: null,
  count: 0,
  distribution: { '1': 0, '2': 0, '3': 0, '4': 0, '5': 0 },
}

/** Sums ratings by model; without `ids` of all models. Models without ratings are left out. */
export async function sumRatings(
  db: Kysely<Schema>,
  ids?: readonly string[],
): Promise<Map<string, RatingSum>> {
  const rows = await db
    .selectFrom('model_rating_sum')
    .selectAll()
    .$if(ids !== undefined, (query) => query.where('model_id', 'in', ids ?? []))
    .where('ratings', '>', 0n)
    .execute()
  const byModel = Map.groupBy(rows, (row) => row.model_id)
  return new Map([...byModel].map(([id, own]) => [id, toSum(own)]))
}

function toSum(rows: readonly { rating: number; ratings: bigint }[]): RatingSum {
  const distribution = { ...noRatings.distribution }
  let total = 0
  for (const grade of grades) {
    const number = Number(rows.find(({ rating }) => rating === grade)?.ratings ?? 0n)
    distribution[`${grade}`] = number
    total += grade * number
  }
  const count = Object.values(distribution).reduce((sum, number) => sum + number, 0)
  return { average: Math.round((total / count) * 100) / 100, count, distribution }
}
