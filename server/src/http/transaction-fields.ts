/** The types of transactions that accounts and operators see. Source: contract 6.7. */
export const transactionTypes = ['purchase', 'usage', 'refund', 'adjustment', 'bonus'] as const
export const transactionStatuses = ['pending', 'completed', 'failed', 'expired'] as const
