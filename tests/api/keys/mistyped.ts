/** Changes one character in the middle of a key: its shape stays, its checksum does not fit. */
export const mistypeKey = (key: string) =>
  key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21)
