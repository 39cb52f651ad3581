import { TrailFilter, TrailList } from './schema'
import { operatorRoute, paging } from '../../../http/documentation'

export const listChanges = operatorRoute({
  operationId: 'listOperatorChanges',
  summary: 'What operators changed and exported, newest first',
  tag: 'Audit log',
  query: ['search', ...Object.keys(TrailFilter.shape), ...paging],
  answer: TrailList,
})
