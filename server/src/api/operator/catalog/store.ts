import { sql, type Kysely, type Transaction } from 'kysely'
import { checkOrder, recordApplied } from './document-order'
import { readDocument, type FetchDocument } from './read-document'
import type { AppliedCatalog, CatalogSource } from './schema'
import type { Catalog } from '../../../catalog/catalog'
import { compareCatalogs, type CatalogDiff, type StoredPlans } from '../../../catalog/catalog-diff'
import type { Model, Pricing } from '../../../catalog/model'
import { toPricingAnswer } from '../../../catalog/pricing-fields'
import { readPricing, toStoredPricing } from '../../../catalog/stored-pricing'
import type { Schema } from '../../../platform/db/schema'
import { invalidRequest } from '../../../errors'
import { toTimestamp } from '../../../http/fields'

interface Ports {
  db: Kysely<Schema>
  catalog: Catalog
  settings: { readonly current: { catalogPublicKey: string | null } }
  fetchDocument: FetchDocument
}

export type CatalogUpdateStore = ReturnType<typeof createCatalogUpdateStore>

/**
 * Updates models and prices from a document that an operator names: previewed first, then applied like the
 * operator's own models and price steps, so that every node follows and running requests keep their price.
 */
export function createCatalogUpdateStore({ db, catalog, settings, fetchDocument }: Ports) {
  async function compared(source: CatalogSource) {
    const { catalogPublicKey: publicKey } = settings.current
    const read = await readDocument(source, { fetchDocument, publicKey })
    const signed = publicKey === null ? undefined : { document: read.document, publicKey }
    if (signed) await checkOrder(db, source, signed)
    const current = { ...catalog.snapshot, plans: await readPlans(db) }
    return { ...read, signed, diff: compareCatalogs(read.document, current, new Date()) }
  }

  return {
    async preview(source: CatalogSource) {
      const { digest, document, isSigned, diff } = await compared(source)
      return { digest, date: document.date, is_signed: isSigned, ...toAnswer(diff) }
    },
    async apply({ digest, only, ...source }: AppliedCatalog) {
      const read = await compared(source)
      if (read.digest !== digest) {
        const message = 'digest: the document has changed since the preview. Preview it again.'
        throw invalidRequest('digest', 'conflict', message)
      }
      const diff = only ? narrowDiff(read.diff, new Set(only)) : read.diff
      await db.transaction().execute(async (trx) => {
        // First: two documents that are applied at once take their turns here.
        if (read.signed) await recordApplied(trx, source, read.signed)
        await write(trx, diff)
      })
      await catalog.refresh()
      return {
        added: diff.added.length,
        repriced: diff.repriced.length,
        planned: diff.planned.length,
      }
    },
  }
}

/** Reads the planned prices of each model with a stored price. A damaged one counts as none. */
async function readPlans(db: Kysely<Schema>): Promise<StoredPlans> {
  const { rows } = await sql<{ model_id: string; at: Date | null; pricing: unknown }>`
    select model_id, case when effective_at > now() then effective_at end as at, pricing
    from model_price`.execute(db)
  const plans = new Map<string, Map<number, Pricing>>()
  for (const { model_id: id, at, pricing } of rows) {
    const plan = plans.get(id) ?? new Map<number, Pricing>()
    plans.set(id, plan)
    const read = at && pricingIn(pricing)
    if (at && read) plan.set(at.getTime(), read)
  }
  return plans
}

function pricingIn(column: unknown): Pricing | null {
  try {
    return readPricing(column)
  } catch {
    return null
  }
}

function narrowDiff(diff: CatalogDiff, ids: ReadonlySet<string>): CatalogDiff {
  const isSelected = ({ id }: { id: string }) => ids.has(id)
  return {
    ...diff,
    added: diff.added.filter(isSelected),
    repriced: diff.repriced.filter(isSelected),
    planned: diff.planned.filter(isSelected),
  }
}

const answerOf = (pricing: Pricing | null) => pricing && toPricingAnswer(pricing)

const toAnswer = ({ added, repriced, planned, unimported, missing }: CatalogDiff) => ({
  added: added.flatMap(({ id, pricing }) =>
    pricing ? [{ id, pricing: toPricingAnswer(pricing) }] : [],
  ),
  repriced: repriced.map(({ id, before, after }) => ({
    id,
    before: answerOf(before),
    after: toPricingAnswer(after),
  })),
  planned: planned.map(({ id, from, after }) => ({
    id,
    effective_at: toTimestamp(from),
    pricing: toPricingAnswer(after),
  })),
  kept: [...unimported],
  missing,
})

/** The number of rows per statement. */
const batch = 500

async function write(trx: Transaction<Schema>, diff: CatalogDiff): Promise<void> {
  const models = diff.added.map(toRow)
  const steps = [
    ...diff.added.flatMap(({ id, pricing }) => (pricing ? [{ id, pricing, at: null }] : [])),
    ...diff.repriced.map(({ id, after }) => ({ id, pricing: after, at: null })),
    ...diff.planned.map(({ id, after, from }) => ({ id, pricing: after, at: from })),
  ]
  for (let at = 0; at < models.length; at += batch) {
    await trx
      .insertInto('model')
      .values(models.slice(at, at + batch))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  for (let at = 0; at < steps.length; at += batch) {
    const rows = JSON.stringify(
      steps.slice(at, at + batch).map(({ id, pricing, at: from }) => ({
        id,
        from,
        pricing: toStoredPricing(pricing),
      })),
    )
    await sql`
      insert into model_price (model_id, effective_at, pricing)
      select step ->> 'id', coalesce((step ->> 'from')::timestamptz, now()),
        (step ->> 'pricing')::jsonb
      from jsonb_array_elements(${rows}::jsonb) as step
      on conflict (model_id, effective_at) do update set pricing = excluded.pricing`.execute(trx)
    // A document has the prices that providers publish: what the operator pays, unless he has agreed on another.
    await sql`
      insert into model_cost (model_id, source, effective_at, pricing)
      select step ->> 'id', 'published', coalesce((step ->> 'from')::timestamptz, now()),
        (step ->> 'pricing')::jsonb
      from jsonb_array_elements(${rows}::jsonb) as step
      on conflict (model_id, source, effective_at) do update set pricing = excluded.pricing
    `.execute(trx)
  }
}

const toDate = (seconds: number | null) => (seconds === null ? null : new Date(seconds * 1000))

const toRow = (model: Model) => ({
  id: model.id,
  provider: model.provider,
  name: model.name,
  upstream_model: model.upstreamModel,
  category: model.category,
  context_length: model.contextLength,
  max_input_tokens: model.maxInputTokens,
  max_output_tokens: model.maxOutputTokens,
  dimensions: model.dimensions,
  capabilities: JSON.stringify(model.capabilities),
  pricing: model.pricing && toStoredPricing(model.pricing),
  is_free: model.isFree,
  enabled: true,
  deprecated_at: toDate(model.deprecatedAt),
  created_at: new Date(model.createdAt * 1000),
})
