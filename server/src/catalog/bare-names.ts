import { findModelByName } from './model-names'
import type { Snapshot } from './snapshot'
import { makers } from '../providers/makers'

/**
 * Returns the id of a model whose provider was left out: the one maker of models that lists the name, or else the one
 * that has it as an alias; undefined where there is none, or several. Providers that serve others' models do not count.
 */
export function findBareName(snapshot: Snapshot, name: string): string | undefined {
  const ids = makers
    .filter(({ key }) => snapshot.providers.has(key))
    .map(({ key }) => `${key}/${name}`)
  const listed = ids.filter((id) => snapshot.models.get(id)?.enabled)
  const knownIds =
    listed.length > 0 ? listed : ids.filter((id) => findModelByName(snapshot, id)?.enabled)
  return knownIds.length === 1 ? knownIds[0] : undefined
}
