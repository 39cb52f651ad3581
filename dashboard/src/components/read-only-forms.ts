import { createContext } from 'react'

/** Whether forms below show their fields only, because the reader may not save them. */
export const ReadOnlyForms = createContext(false)
