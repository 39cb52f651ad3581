import { responses } from '.'

/** The dialect of a request without headers of its own. */
export const dialect = responses(new Headers())
