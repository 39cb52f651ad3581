/** A name of the interface in plain words: `waiting_on_customer` is “waiting on customer”. */
export const plainName = (name: string) => name.replaceAll('_', ' ')
