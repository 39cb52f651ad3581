import { useQueryClient } from '@tanstack/react-query'
import { modelsKey, setFavorite } from '../models'
import { FavoriteStar } from './favorite'

interface Props {
  /** The id of a model or a collection. */
  id: string
  isOn: boolean
}

/** The favourite button of a model or a collection. */
export function FavoriteModel({ id, isOn }: Props) {
  const queries = useQueryClient()
  const change = async (isWanted: boolean) => {
    await setFavorite(id, isWanted)
    await queries.invalidateQueries({ queryKey: modelsKey })
  }
  return <FavoriteStar name={id} isOn={isOn} onChange={change} />
}
