import { sql, type Kysely, type Selectable } from 'kysely'
import { lockAccount } from '../../../platform/db/account-row'
import { noRatings, sumRatings } from './rating-sums'
import type { NewRating, RatingOrder } from './schema'
import type { ModelPorts } from './catalogue-models'
import { findIn } from './store'
import { newId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import type { RatingRow } from '../../../platform/db/showcase-schema'
import { ApiError, invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { queryPage } from '../../../http/paged-rows'
import { toPaged, type Page } from '../../../http/paging'

/** Bounds the ratings of an account: models come and go, and connections bring their own. */
const maxRatings = 5000

type Row = Selectable<RatingRow> & { user_name: string }

const toRating = (row: Row) => ({
  id: row.id,
  model_id: row.model_id,
  user_id: row.user_id,
  user_name: row.user_name,
  rating: row.rating,
  review: row.review,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})

const ratings = (db: Kysely<Schema>) =>
  db
    .selectFrom('model_rating')
    .innerJoin('users', 'users.id', 'model_rating.user_id')
    .selectAll('model_rating')
    .select('users.display_name as user_name')

export type RatingStore = ReturnType<typeof createRatingStore>

/** Accounts' ratings of models. Source: contract 6.8. */
export function createRatingStore({ db, modelsFor }: ModelPorts) {
  /** Rejects with `model_not_found`. */
  const findModelId = async (userId: string, id: string | undefined) =>
    (await findIn(await modelsFor(userId), id, null)).id
  return {
    async list(userId: string, id: string | undefined, listing: RatingListing) {
      const modelId = await findModelId(userId, id)
      const [sums, mine, { items, pagination }] = await Promise.all([
        sumRatings(db, [modelId]),
        ratings(db)
          .where('model_id', '=', modelId)
          .where('user_id', '=', userId)
          .executeTakeFirst(),
        pageOfModel(db, modelId, listing),
      ])
      return {
        model_id: modelId,
        summary: sums.get(modelId) ?? noRatings,
        my_rating: mine ? toRating(mine) : null,
        ratings: items.map(toRating),
        pagination,
      }
    },
    async rate(userId: string, id: string | undefined, fields: NewRating) {
      const { ratingId, isNew } = await store(db, {
        userId,
        modelId: await findModelId(userId, id),
        fields,
      })
      const row = await ratings(db)
        .where('model_rating.id', '=', ratingId)
        .where('model_rating.user_id', '=', userId)
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      return { rating: toRating(row), isNew }
    },
    async remove(userId: string, modelId: string | undefined) {
      const row = await db
        .deleteFrom('model_rating')
        .where('user_id', '=', userId)
        .where('model_id', '=', modelId ?? '')
        .returning('id')
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      return { success: true as const, message: 'The rating was deleted.' }
    },
    async listOf(userId: string, page: Page) {
      const query = ratings(db).where('user_id', '=', userId)
      const { items, pagination } = await queryPage(db, query, {
        page,
        column: 'model_rating.id',
      })
      return { ratings: items.map(toRating), pagination }
    },
  }
}

interface RatingListing {
  page: Page
  sort: RatingOrder
}

/** Newest first, also among equal ratings. */
async function pageOfModel(db: Kysely<Schema>, modelId: string, { page, sort }: RatingListing) {
  const direction = sort === 'lowest' ? 'asc' : 'desc'
  const [{ total }, rows] = await Promise.all([
    db
      .selectFrom('model_rating')
      .where('model_id', '=', modelId)
      .select(({ fn }) => fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow(),
    ratings(db)
      .where('model_id', '=', modelId)
      .$if(page.before !== undefined, (query) => query.where(behind(page.before ?? '', sort)))
      .$if(sort !== 'newest', (query) => query.orderBy('model_rating.rating', direction))
      .orderBy('model_rating.id', 'desc')
      .limit(page.limit + 1)
      .offset(page.offset)
      .execute(),
  ])
  return toPaged(page, total, rows)
}

/** Selects the ratings behind a cursor; none where its rating was deleted meanwhile. */
function behind(id: string, sort: RatingOrder) {
  if (sort === 'newest') return sql<boolean>`model_rating.id < ${id}`
  const last = sql`(select rating from model_rating as last where last.id = ${id})`
  const further = sort === 'lowest' ? sql`>` : sql`<`
  return sql<boolean>`(
    model_rating.rating ${further} ${last}
    or (model_rating.rating = ${last} and model_rating.id < ${id})
  )`
}

interface RatingSummary {
  userId: string
  modelId: string
  fields: NewRating
}

/** Stores one rating for each account and model: a new one replaces the old one under its id. */
const store = (db: Kysely<Schema>, { userId, modelId, fields }: RatingSummary) =>
  db.transaction().execute(async (trx) => {
    await lockAccount(trx, userId)
    const replaced = await trx
      .updateTable('model_rating')
      .set({ ...fields, updated_at: new Date() })
      .where('user_id', '=', userId)
      .where('model_id', '=', modelId)
      .returning('id')
      .executeTakeFirst()
    if (replaced) return { ratingId: replaced.id, isNew: false }
    const { total } = await trx
      .selectFrom('model_rating')
      .where('user_id', '=', userId)
      .select(({ fn }) => fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow()
    if (total >= maxRatings) {
      throw invalidRequest(null, 'limit_reached', `An account has at most ${maxRatings} ratings.`)
    }
    const ratingId = newId('rating')
    await trx
      .insertInto('model_rating')
      .values({ id: ratingId, user_id: userId, model_id: modelId, ...fields })
      .execute()
    return { ratingId, isNew: true }
  })
