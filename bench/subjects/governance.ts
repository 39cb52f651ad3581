/** The two settings in which gateways are compared: all that can be off is off, or all that it offers is on. */
export type Setting = 'bare' | 'governed'

/** The features that are on in a subject, in a few words each; what is off or not offered is left out. */
export interface Governance {
  setting: Setting
  /** API keys beyond one of the whole gateway. */
  keys?: string
  /** Rate limits. */
  limits?: string
  /** Spending limits and credit. */
  budgets?: string
  /** Stored records of requests. */
  logs?: string
  /** Services of its own, whose CPU is counted. */
  services?: string
}
