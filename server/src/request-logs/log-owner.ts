/** Stands for all accounts, where an operator reads logs; a symbol, as no missing id may come to mean it. */
export const everyAccount = Symbol('every account')

/** The account whose logs are read, by its id, or all accounts. */
export type LogOwner = string | typeof everyAccount
