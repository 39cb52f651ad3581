import {
  createContext,
  useContext,
  useId,
  useLayoutEffect,
  useState,
  type Dispatch,
  type ReactNode,
  type SetStateAction,
} from 'react'
import { Failure } from './failure'

interface FailedQuery {
  error: Error
  refetch: () => Promise<unknown>
}

type FailedQueries = ReadonlyMap<string, FailedQuery>

interface Scope {
  /** Whether several queries failed, whose error message is that of the scope. */
  isShared: boolean
  setFailed?: Dispatch<SetStateAction<FailedQueries>>
}

const ScopeContext = createContext<Scope>({ isShared: false })

/** A page or drawer: when several of its queries fail, they have one error message with one retry. */
export function FailureScope({ children }: { children: ReactNode }) {
  const [failed, setFailed] = useState<FailedQueries>(new Map())
  const queries = [...failed.values()]
  const isShared = queries.length > 1
  const retry = () => {
    for (const { refetch } of queries) void refetch()
  }
  return (
    <ScopeContext value={{ isShared, setFailed }}>
      {isShared && <Failure errors={queries.map(({ error }) => error)} retry={retry} />}
      {children}
    </ScopeContext>
  )
}

interface Props extends FailedQuery {
  /** Stands here when the error message is that of the page. */
  placeholder?: ReactNode
}

/** The error message of a failed query, here or, when several queries failed, at the top of the page. */
export function QueryFailure({ error, refetch, placeholder }: Props) {
  const id = useId()
  const { isShared, setFailed } = useContext(ScopeContext)
  useLayoutEffect(() => {
    setFailed?.((before) => new Map(before).set(id, { error, refetch }))
    return () =>
      setFailed?.((before) => new Map([...before].filter(([failedId]) => failedId !== id)))
  }, [id, error, refetch, setFailed])
  return isShared ? placeholder : <Failure errors={[error]} retry={() => void refetch()} />
}
