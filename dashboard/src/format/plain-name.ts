/** Formats an API name as words: `waiting_on_customer` becomes “waiting on customer”. */
export const plainName = (name: string) => name.replaceAll('_', ' ')
