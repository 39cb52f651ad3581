import { z } from 'zod'
import { optional, secondsUpTo, url } from './fields'
import { setting } from './setting'

const maxSecrets = 10

/** The webhook secrets of the payment processor: several while a secret is rotated. */
const Secrets = z.string().transform((text, context): readonly string[] => {
  const secrets = text.split(',').map((secret) => secret.trim())
  if (secrets.some((secret) => !/^[\x21-\x7e]{8,}$/.test(secret))) {
    context.addIssue('must be signing secrets (whsec_...) with commas between them')
  }
  if (secrets.length > maxSecrets) context.addIssue(`must be at most ${maxSecrets} secrets`)
  return secrets
})

/** The settings of payments. */
export const paymentSettings = z.object({
  /** Undefined if payments are disabled. */
  secretKey: setting(
    optional(
      z.string().regex(/^[\x21-\x7e]{8,}$/, 'must be a secret key of Stripe (sk_... or rk_...)'),
    ),
    {
      name: 'STRIPE_SECRET_KEY',
      doc: 'lets customers buy credit ([payments.md](../concepts/payments.md)); requires `STRIPE_WEBHOOK_SECRET`',
    },
  ),
  /** Undefined if no webhook events are accepted. */
  webhookSecrets: setting(optional(Secrets), {
    name: 'STRIPE_WEBHOOK_SECRET',
    doc: 'secret with which Stripe signs its events; several separated by commas',
  }),
  apiBase: setting(url(/^https?$/).default('https://api.stripe.com'), {
    name: 'STRIPE_API_BASE',
    doc: "Stripe's address",
  }),
  rechargeEveryMs: setting(secondsUpTo(3600, 30), {
    name: 'AUTO_RECHARGE_SECONDS',
    doc: 'how often accounts with automatic recharge are checked, at most 3600',
  }),
  invoiceEveryMs: setting(secondsUpTo(3600, 60), {
    name: 'INVOICE_SECONDS',
    doc: 'how often invoices that are due are issued, at most 3600',
  }),
  compareEveryMs: setting(secondsUpTo(604_800, 86_400), {
    name: 'PAYMENT_COMPARISON_SECONDS',
    doc: "how often Stripe's lists are compared with the ledger, at most 604800",
  }),
})
export type PaymentConfig = z.output<typeof paymentSettings>
