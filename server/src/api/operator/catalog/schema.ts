import { z } from 'zod'
import { PricingAnswer } from '../../../catalog/pricing-fields'
import { customIssue } from '../../../wire/field-error'

const maxDocumentLength = 8_000_000

const source = {
  url: z
    .url({ protocol: /^https$/ })
    .max(2000)
    .optional()
    .describe('Address of the document; its signature has the same address with `.sig` appended.'),
  document: z
    .string()
    .min(1)
    .max(maxDocumentLength)
    .optional()
    .describe('The document as text, in the form of `server/src/catalog/models.json`.'),
  signature: z
    .string()
    .regex(/^[A-Za-z0-9+/]{86}==$/, 'must be an Ed25519 signature: 64 bytes in base64.')
    .optional()
    .describe('Of `document`, where `catalog_public_key` is set.'),
}

const onlyOneSource = (
  { url, document }: { url?: string | undefined; document?: string | undefined },
  ctx: z.RefinementCtx,
) => {
  if ((url === undefined) !== (document === undefined)) return
  ctx.addIssue(customIssue('required', 'send either url or document.', ['document']))
}

export const CatalogSource = z
  .object(source)
  .superRefine(onlyOneSource)
  .meta({ ref: 'CatalogSource' })
export type CatalogSource = z.output<typeof CatalogSource>

export const AppliedCatalog = z
  .object({
    ...source,
    digest: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be the digest of a preview.')
      .describe('The digest of the preview, so that exactly the previewed changes apply.'),
    only: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(20_000)
      .optional()
      .describe('The ids to take over; all of the preview where absent.'),
  })
  .superRefine(onlyOneSource)
  .meta({ ref: 'AppliedCatalog' })
export type AppliedCatalog = z.output<typeof AppliedCatalog>

export const CatalogPreview = z
  .object({
    digest: z.string().describe('SHA-256 of the document, hexadecimal.'),
    date: z.string().describe('The day that the document names.'),
    is_signed: z.boolean(),
    added: z.array(z.object({ id: z.string(), pricing: PricingAnswer })),
    repriced: z.array(
      z.object({ id: z.string(), before: PricingAnswer.nullable(), after: PricingAnswer }),
    ),
    planned: z.array(
      z.object({ id: z.string(), effective_at: z.iso.datetime(), pricing: PricingAnswer }),
    ),
    kept: z
      .array(z.string())
      .describe('Models whose price depends on the day of the week: it is not imported.'),
    missing: z
      .int()
      .describe('Models of its providers that the document does not have. They stay.'),
  })
  .meta({ ref: 'CatalogPreview' })

export const CatalogApplied = z
  .object({ added: z.int(), repriced: z.int(), planned: z.int() })
  .meta({ ref: 'CatalogApplied' })
