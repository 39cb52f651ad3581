import type { Kysely } from 'kysely'
import { readCatalogueModels, type ModelPorts, type PublicOfferedModels } from './catalogue-models'
import { findIn } from './store'
import { lockAccount } from '../../../platform/db/account-row'
import type { Schema } from '../../../platform/db/schema'
import { ApiError, invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'

/** A list without pages needs a limit. */
const maxFavorites = 1000

export type FavoriteStore = ReturnType<typeof createFavoriteStore>

interface Row {
  model_id: string
  created_at: Date
}

/** Favourites of accounts: models, and collections. */
export function createFavoriteStore({ db, modelsFor, performance }: ModelPorts) {
  const toFavorites = async (
    userId: string,
    rows: readonly Row[],
    offered: PublicOfferedModels,
  ) => {
    const offeredModels = rows.flatMap((row) => offered.find(row.model_id) ?? [])
    const models = await readCatalogueModels(userId, offeredModels, { db, offered, performance })
    const byId = new Map(models.map((model) => [model.id, model]))
    return rows.map((row) => ({
      model_id: row.model_id,
      model: byId.get(row.model_id) ?? null,
      created_at: toTimestamp(row.created_at),
    }))
  }
  return {
    async list(userId: string) {
      const rows = await db
        .selectFrom('model_favorite')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('created_at', 'desc')
        .orderBy('model_id')
        .execute()
      return { favorites: await toFavorites(userId, rows, await modelsFor(userId)) }
    },
    /** Rejects with `model_not_found`. */
    async add(userId: string, modelId: string) {
      const offered = await modelsFor(userId)
      if (!(await offered.hasCollection(modelId))) await findIn(offered, modelId, 'model_id')
      const { row, isNew } = await insert(db, userId, modelId)
      const [favorite] = await toFavorites(userId, [row], offered)
      return { favorite, isNew }
    },
    async remove(userId: string, modelId: string | undefined) {
      const row = await db
        .deleteFrom('model_favorite')
        .where('user_id', '=', userId)
        .where('model_id', '=', modelId ?? '')
        .returning('model_id')
        .executeTakeFirst()
      if (!row) throw new ApiError('resource_not_found')
      return { success: true as const, message: 'The model was removed from your favorites.' }
    },
  }
}

const insert = (db: Kysely<Schema>, userId: string, modelId: string) =>
  db.transaction().execute(async (trx) => {
    await lockAccount(trx, userId)
    const own = trx.selectFrom('model_favorite').where('user_id', '=', userId)
    const existingFavorite = await own
      .selectAll()
      .where('model_id', '=', modelId)
      .executeTakeFirst()
    if (existingFavorite) return { row: existingFavorite, isNew: false }
    const { total } = await own
      .select(({ fn }) => fn.countAll<bigint>().as('total'))
      .executeTakeFirstOrThrow()
    if (total >= maxFavorites) {
      const message = `An account has at most ${maxFavorites} favorites.`
      throw invalidRequest(null, 'limit_reached', message)
    }
    const row = await trx
      .insertInto('model_favorite')
      .values({ user_id: userId, model_id: modelId })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { row, isNew: true }
  })
