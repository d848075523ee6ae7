#include "config/configuration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "cairn/keep_for.h"

namespace cairn::config {
namespace {

class Configurations : public testing::Test {
 protected:
  void SetUp() override {
    folder = testing::TempDir() + "cairn_config_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
  Result<Configuration> read(std::map<std::string, std::string> flags, std::map<std::string, std::string> variables,
                             const std::string& file = {}) const {
    Sources sources;
    sources.flags = std::move(flags);
    sources.variable = [variables](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    sources.file = file;
    return Configuration::read(sources);
  }
  std::string folder;
};

TEST_F(Configurations, FlagsWinOverVariablesOverTheFileOverDefaults) {
  const std::string file = write("a.toml", "listen = \"1.1.1.1:1\"\nnode = \"file\"\nworkers = 7\n");
  const auto read_all =
      read({{"listen", "3.3.3.3:3"}}, {{"CAIRN_LISTEN", "2.2.2.2:2"}, {"CAIRN_NODE", "variable"}}, file);
  ASSERT_TRUE(read_all) << read_all.error().message;
  EXPECT_EQ(read_all->text("listen"), "3.3.3.3:3");
  EXPECT_EQ(read_all->at("listen").origin, "--listen");
  EXPECT_EQ(read_all->text("node"), "variable");
  EXPECT_EQ(read_all->at("node").origin, "CAIRN_NODE");
  EXPECT_EQ(read_all->number("workers"), 7);
  EXPECT_EQ(read_all->at("workers").origin, file + ":3");
  EXPECT_EQ(read_all->at("auth").origin, "default");
}

TEST_F(Configurations, AFileWithSecretsThatEverybodyMayReadIsRefused) {
  const auto mode = [](const std::string& path, std::filesystem::perms perms) {
    std::filesystem::permissions(path, perms);
    return path;
  };
  using std::filesystem::perms;
  constexpr perms own = perms::owner_read | perms::owner_write;
  const char* const with_secrets[] = {
      "store = \"postgres://cairn:hunter2@db/x\"\n",
      "[[hooks]]\nname = \"a\"\nsecret = \"0123\"\n",
      "[[events.sinks]]\nname = \"a\"\nhttp = { url = \"https://a\", secret = \"0123\" }\n",
      "[[events.sinks]]\nname = \"a\"\nhttp = { url = \"https://a\", headers = { Authorization = \"Bearer hunter2\" } "
      "}\n",
      "[[events.sinks]]\nname = \"a\"\nhttp = { url = \"https://a\", headers = { accept = \"a/b\", x-team = "
      "\"hunter2\" } }\n",
      "[otlp]\nheaders = [\"x-key=1\"]\n",
      "hints = \"redis://:hunter2@cache:6379\"\n",
  };
  for (const char* const text : with_secrets) {
    const std::string file = write("secret.toml", text);
    const auto refused = read({}, {}, mode(file, own | perms::group_read | perms::others_read));
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::not_allowed);
    EXPECT_NE(refused.error().message.find("chmod"), std::string::npos) << refused.error().message;
    EXPECT_EQ(refused.error().message.find("hunter2"), std::string::npos);
    const auto fine = read({}, {}, mode(file, own | perms::group_read));
    EXPECT_TRUE(fine) << fine.error().message;
  }
  const std::string plain =
      write("plain.toml",
            "store = \"sqlite:a.db\"\n[[hooks]]\nname = \"a\"\nsecret_file = \"/x\"\n"
            "[[events.sinks]]\nname = \"a\"\nhttp = { url = \"https://a\", headers = { Accept = \"a/b\" } }\n");
  EXPECT_TRUE(read({}, {}, mode(plain, own | perms::others_read)));
}

TEST_F(Configurations, SecretsOfFilesMayBeBoundToHosts) {
  const std::string value = write("pay", "s3cr3t\n");
  std::filesystem::permissions(value, std::filesystem::perms::owner_read | std::filesystem::perms::others_read);
  const auto all = read({}, {},
                        write("a.toml", "[secrets]\nplain = \"" + value + "\"\npay = { file = \"" + value +
                                            "\", hosts = [\"pay.example\"] }\n"));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->secrets().at("pay"), "s3cr3t");
  EXPECT_EQ(all->secret_hosts().at("pay"), std::vector<std::string>{"pay.example"});
  EXPECT_FALSE(all->secret_hosts().contains("plain"));
  EXPECT_EQ(all->exposed_files(), (std::vector<std::string>{value, value}));
  for (const char* const bad : {"{ hosts = [\"a\"] }", "{ file = \"FILE\" }", "{ file = \"FILE\", hosts = [] }",
                                "{ file = \"FILE\", hosts = \"a\" }", "{ file = \"FILE\", host = [\"a\"] }", "3"}) {
    std::string text = "[secrets]\npay = " + std::string(bad) + "\n";
    if (const std::size_t at = text.find("FILE"); at != std::string::npos) text.replace(at, 4, value);
    EXPECT_FALSE(read({}, {}, write("bad.toml", text))) << text;
  }
}

TEST_F(Configurations, TablesListsAndValuesForExpressions) {
  const std::string file = write("a.toml",
                                 "[tls]\ncertificate = \"c.pem\"\n[cors]\norigins = [\"https://a\", \"https://b\"]\n"
                                 "[config]\nscoring_url = \"http://x\"\nlimits = { daily = 3 }\n");
  const auto all = read({}, {}, file);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->text("tls.certificate"), "c.pem");
  EXPECT_EQ(all->list("cors.origins"), (std::vector<std::string>{"https://a", "https://b"}));
  EXPECT_EQ(write_json(all->values()), R"({"limits":{"daily":3},"scoring_url":"http://x"})");
}

TEST_F(Configurations, ASecretComesFromAFileOfItsOwn) {
  const std::string secret = write("url", "postgres://cairn:hunter2@db/x\n");
  const auto all = read({}, {{"CAIRN_STORE_FILE", secret}});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->text("store"), "postgres://cairn:hunter2@db/x");
  EXPECT_EQ(all->at("store").origin, "CAIRN_STORE_FILE (file " + secret + ")");
  EXPECT_EQ(shown(specs().front(), all->at("store")), "postgres://cairn:***@db/x");
  const auto from_toml = read({}, {}, write("b.toml", "store_file = \"" + secret + "\"\n"));
  ASSERT_TRUE(from_toml) << from_toml.error().message;
  EXPECT_EQ(from_toml->text("store"), "postgres://cairn:hunter2@db/x");
}

TEST_F(Configurations, SecretsOfWorkflowsStandInFilesAndEventsInATable) {
  const std::string secret = write("token", "s3cret\n");
  const auto all =
      read({}, {}, write("a.toml", "[secrets]\npartner = \"" + secret + "\"\n[events]\nsource = \"/x\"\n"));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->secrets().at("partner"), "s3cret");
  EXPECT_EQ(write_json(all->events()), R"({"source":"/x"})");
  EXPECT_FALSE(read({}, {}, write("b.toml", "[secrets]\npartner = 7\n")));
  EXPECT_FALSE(read({}, {}, write("c.toml", "[secrets]\npartner = \"" + folder + "/nowhere\"\n")));
}

TEST_F(Configurations, WhatIsWrongIsNamedWithItsPlace) {
  const auto message = [this](const std::string& text) {
    const auto all = read({}, {}, write("a.toml", text));
    return all ? std::string("fine") : all.error().message;
  };
  EXPECT_NE(message("listne = \"x\"").find("a.toml:1: unknown setting \"listne\"; did you mean \"listen\"?"),
            std::string::npos)
      << message("listne = \"x\"");
  EXPECT_NE(message("\nworkers = \"many\"").find("a.toml:2: workers takes a whole number"), std::string::npos);
  EXPECT_NE(message("drain = \"soon\"").find("drain takes a duration"), std::string::npos);
  EXPECT_NE(message("listen = ").find("a.toml:1"), std::string::npos) << message("listen = ");
  // The library has an assertion instead of an error for these.
  EXPECT_NE(message("node = \"a\"\n[, x]\n").find("a.toml:2: this line is not valid TOML"), std::string::npos);
  EXPECT_NE(message("[[,]]").find("a.toml:1: this line is not valid TOML"), std::string::npos);
  // Undefined behaviour in the library, which the sanitizer reports.
  EXPECT_NE(message("\u00e9 = 1\n").find("a.toml:1"), std::string::npos);
  EXPECT_FALSE(read({}, {}, folder + "/nowhere.toml"));
  EXPECT_FALSE(read({}, {{"CAIRN_LOG_REQUESTS", "perhaps"}}));
  EXPECT_FALSE(read({}, {{"CAIRN_STORE_FILE", folder + "/nowhere"}}));
}

TEST_F(Configurations, ASettingWhoseNameEndsWithFileStandsInTheFile) {
  const auto all = read({}, {}, write("a.toml", "ca_file = \"/etc/ca.pem\"\n"));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->text("ca_file"), "/etc/ca.pem");
}

TEST_F(Configurations, AnEmptyVariableIsNotSet) {
  const auto all = read({}, {{"CAIRN_HTTP_BODY_BYTES_MAX", ""}, {"CAIRN_LISTEN", ""}, {"CAIRN_STORE_FILE", ""}});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->number("http.body_bytes_max"), 4 << 20);
  EXPECT_EQ(all->at("http.body_bytes_max").origin, "default");
  EXPECT_EQ(all->text("listen"), "127.0.0.1:8400");
  EXPECT_FALSE(read({}, {}, write("a.toml", "drain = \"\"\n"))) << "a duration is not empty";
  EXPECT_TRUE(read({}, {}, write("b.toml", "[keep]\ncompleted = \"\"\n"))) << "empty by default";
}

// An engine in a program of its own keeps as long as a server.
TEST_F(Configurations, PeriodsHaveTheDefaultsOfTheEngine) {
  const KeepFor engine;
  const auto all = read({}, {});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->period("keep.completed"), engine.completed);
  EXPECT_EQ(all->period("keep.failed"), engine.failed);
  EXPECT_EQ(all->period("keep.cancelled"), engine.cancelled);
  EXPECT_EQ(all->period("keep.runs"), engine.runs);
  EXPECT_EQ(all->period("keep.deleted_runs"), engine.deleted_runs);
  EXPECT_EQ(all->period("keep.run_events"), engine.run_events);
  EXPECT_EQ(all->period("keep.dead_letters"), engine.dead_letters);
  EXPECT_EQ(all->period("keep.outbox"), engine.outbox);
  EXPECT_EQ(all->period("keep.keys"), engine.keys);
  EXPECT_EQ(all->period("keep.audit"), engine.audit);
  EXPECT_EQ(all->period("keep.stale_tasks"), engine.stale_tasks);
  EXPECT_EQ(all->period("keep.stale_instances"), engine.stale_instances);
}

TEST_F(Configurations, APeriodIsADurationOrForever) {
  const auto all = read({{"keep.runs", "forever"}, {"keep.completed", "90d"}}, {{"CAIRN_KEEP_KEYS", "forever"}},
                        write("a.toml", "[keep]\noutbox = \"\"\nrun_events = \"12h\"\n"));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->period("keep.runs"), std::nullopt);
  EXPECT_EQ(all->period("keep.keys"), std::nullopt);
  EXPECT_EQ(all->period("keep.outbox"), std::nullopt) << "as before there were defaults";
  EXPECT_EQ(all->period("keep.completed"), KeepFor::days(90));
  EXPECT_EQ(all->period("keep.run_events"), Duration::of_seconds(43'200));
  const auto refused = read({{"keep.runs", "never"}}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("keep.runs takes a duration such as 30d, or forever"), std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(read({{"keep.runs", "-1d"}}, {}));
  EXPECT_FALSE(read({{"lease", "forever"}}, {})) << "other durations end";
}

TEST_F(Configurations, ValuesAreCheckedAndBounded) {
  for (const auto& [name, wrong, right] : std::vector<std::array<const char*, 3>>{{"log.level", "loud", "debug"},
                                                                                  {"log.format", "xml", "text"},
                                                                                  {"auth", "maybe", "none"},
                                                                                  {"workers", "0", "1"},
                                                                                  {"workers", "100000", "1000"},
                                                                                  {"http.threads", "0", "2"},
                                                                                  {"lease", "0s", "100ms"},
                                                                                  {"lease", "2d", "1d"},
                                                                                  {"http.body_bytes_max", "0", "1024"},
                                                                                  {"http.idle_timeout", "0s", "1ms"}}) {
    const auto refused = read({{name, wrong}}, {});
    ASSERT_FALSE(refused) << name << " " << wrong;
    EXPECT_NE(refused.error().message.find(flag_of(name) + ": " + name + " takes "), std::string::npos)
        << refused.error().message;
    EXPECT_TRUE(read({{name, right}}, {})) << name << " " << right;
  }
  for (const Spec& spec : specs()) {
    EXPECT_TRUE(read({{std::string(spec.name), std::string(spec.standard)}}, {})) << spec.name << " by default";
  }
}

TEST_F(Configurations, PasswordsAreNotShown) {
  const auto show = [](const std::string& url) { return shown(specs().front(), {url, "default"}); };
  EXPECT_EQ(show("postgres://db/x?user=u&password=hunter2&schema=s"), "postgres://db/x?user=u&password=***&schema=s");
  EXPECT_EQ(show("postgres://db/x?password=hunter2"), "postgres://db/x?password=***");
  EXPECT_EQ(show("postgres://db/x?sslpassword=hunter2&a=b"), "postgres://db/x?sslpassword=***&a=b");
  EXPECT_EQ(show("postgres://u:hunter@2@db/x"), "postgres://u:***@db/x");
  EXPECT_EQ(show("postgres://db/x?options=a@b:c"), "postgres://db/x?options=a@b:c");
  EXPECT_EQ(show("postgres://db/x?hints=redis%3A%2F%2Fu:hunter2%40h&schema=s"), "postgres://db/x?hints=***&schema=s");
  EXPECT_EQ(show("postgres://db/x?hints=redis%3A%2F%2Fh"), "postgres://db/x?hints=redis%3A%2F%2Fh");
  EXPECT_EQ(show("redis://u:hunter/2?x=3@h:6379/1"), "redis://u:***@h:6379/1");
}

TEST_F(Configurations, AMisspeltVariableIsNamed) {
  Sources sources;
  sources.variables = {"CAIRN_LISTNE",   "CAIRN_LISTEN", "CAIRN_STORE_FILE",    "CAIRN_CA_FILE",
                       "CAIRN_SECRET_X", "CAIRN_TOKEN",  "CAIRN_PORT_8400_TCP", "PATH"};
  const auto all = Configuration::read(sources);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->warnings(), std::vector<std::string>{"CAIRN_LISTNE is not a setting; did you mean CAIRN_LISTEN?"});
}

TEST_F(Configurations, AFolderIsNeitherSettingsNorASecret) {
  EXPECT_FALSE(read({}, {}, folder));
  EXPECT_FALSE(read({}, {{"CAIRN_STORE_FILE", folder}}));
  EXPECT_FALSE(read({}, {}, write("folder.toml", "[secrets]\nbank = \"" + folder + "\"\n")));
  EXPECT_TRUE(read({}, {}, write("file.toml", "[secrets]\nbank = \"" + write("bank", "x") + "\"\n")));
}

TEST_F(Configurations, NamesOfFlagsAndVariables) {
  EXPECT_EQ(flag_of("http.body_bytes_max"), "--http-body-bytes-max");
  EXPECT_EQ(variable_of("http.body_bytes_max"), "CAIRN_HTTP_BODY_BYTES_MAX");
}

}  // namespace
}  // namespace cairn::config
