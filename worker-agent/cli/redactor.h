#ifndef PI_INTERCOM_WORKER_AGENT_CLI_REDACTOR_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_REDACTOR_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "google/protobuf/message.h"

namespace intercom {

// Takes out of texts what is nobody else's business. What it is told of is
// replaced the same way everywhere, so that what remains can be followed: names
// by n1, n2 …, workspaces by w1, w2 …, the account's home by ~. Ids stay.
//
// Tell it all that there is before the first text is cleaned.
class Redactor {
 public:
  // Absolute directories; `state` is that of the broker.
  Redactor(std::string home, std::string state);

  // A name of a session; nothing for an empty one. The value is its stand-in.
  std::string Name(std::string_view name);
  // The canonical root of a workspace, likewise.
  std::string Root(std::string_view root);
  // A word, such as the account's name, and what stands for it.
  void Word(std::string_view word, std::string stand_in);
  // A secret or a message's text: none of its lines of 4 bytes or more remains.
  void Secret(std::string_view text);

  // Without secrets, names, and paths but those of the system and in the state
  // directory; what stands in double quotes goes, too.
  std::string Clean(std::string_view text) const;

  // Keeps of a message's texts only ids and the values of a known few fields;
  // names and paths are replaced, the others are removed: a new field is, until
  // it is known here.
  void Clean(google::protobuf::Message& message);

 private:
  std::string WithoutSecrets(std::string_view text) const;
  std::string WithoutPaths(std::string_view text) const;
  std::string WithoutWords(std::string_view text) const;
  // All of `path` is one.
  std::string CleanPath(std::string_view path) const;
  // The longest known directory that a path begins with, and what stands for
  // it. Empty if there is none.
  std::pair<std::string_view, std::string_view> FindDirectory(
      std::string_view path) const;
  std::string CleanField(const google::protobuf::FieldDescriptor& field,
                         const std::string& value);

  // Directories, and what stands for them.
  std::map<std::string, std::string, std::greater<>> directories_;
  const std::string state_;
  // The longest come first where one is the beginning of another.
  std::map<std::string, std::string, std::greater<>> words_;
  std::map<std::string, std::string, std::greater<>> secrets_;
  int names_ = 0;
  int roots_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_REDACTOR_H_
