import { z } from 'zod'

const mostSecrets = 10

/** The webhook secrets of the payment processor: several while a secret is rotated. */
const Secrets = z.string().transform((text, context): string[] => {
  const secrets = text.split(',').map((secret) => secret.trim())
  if (secrets.some((secret) => !/^[\x21-\x7e]{8,}$/.test(secret))) {
    context.addIssue('must be signing secrets (whsec_...) with commas between them')
  }
  if (secrets.length > mostSecrets) context.addIssue(`must be at most ${mostSecrets} secrets`)
  return secrets
})

/** The variables of payments, for the schema of the environment. */
export const paymentVariables = {
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{8,}$/, 'must be a secret key of Stripe (sk_... or rk_...)')
    .optional(),
  STRIPE_WEBHOOK_SECRET: Secrets.optional(),
  STRIPE_API_BASE: z.url({ protocol: /^https?$/ }).default('https://api.stripe.com'),
  AUTO_RECHARGE_SECONDS: z.coerce.number().positive().max(3600).default(30),
  PAYMENT_COMPARISON_SECONDS: z.coerce.number().positive().max(604_800).default(86_400),
}

/** The payment settings of this installation. */
export interface PaymentConfig {
  /** Undefined if payments are disabled. */
  secretKey: string | undefined
  /** Undefined if no webhook events are accepted. */
  webhookSecrets: readonly string[] | undefined
  apiBase: string
  /** The interval at which accounts with automatic recharge are checked. */
  rechargeEveryMs: number
  /** The interval at which the processor's lists are compared with the ledger. */
  compareEveryMs: number
}

interface Variables {
  STRIPE_SECRET_KEY?: string | undefined
  STRIPE_WEBHOOK_SECRET?: string[] | undefined
  STRIPE_API_BASE: string
  AUTO_RECHARGE_SECONDS: number
  PAYMENT_COMPARISON_SECONDS: number
}

export const toPaymentConfig = (env: Variables): PaymentConfig => ({
  secretKey: env.STRIPE_SECRET_KEY,
  webhookSecrets: env.STRIPE_WEBHOOK_SECRET,
  apiBase: env.STRIPE_API_BASE,
  rechargeEveryMs: Math.round(env.AUTO_RECHARGE_SECONDS * 1000),
  compareEveryMs: Math.round(env.PAYMENT_COMPARISON_SECONDS * 1000),
})
