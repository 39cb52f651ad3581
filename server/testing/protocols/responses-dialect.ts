import { responses } from '../../src/protocols/responses'

/** The dialect of a request without headers of its own. */
export const dialect = responses(new Headers())
